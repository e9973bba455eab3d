// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>

#include "formats/ctf/metadata.hpp"

namespace entrain::ctf {

/// The straight line nearest to a map over a span of stamps, ns: that through its ends, moved to
/// the middle of where the map goes around it.
ClockMap line_of(const ClockMap& map, const StampRange& span);

/// The clock whose times follow the straight line through the ends of `map` over a span: with
/// another frequency if the line has a slope, and other offsets. Right to half of a Hz, so to half
/// of 1/frequency of the distance from the middle of the span, and to a count. The frequency stays
/// where counts exceed 2^53: readers compute in doubles where it is not 10^9 Hz.
ClockClass retimed(const ClockClass& clock, const ClockMap& map, const StampRange& span);

/// The map from the times of a clock to those of `retimed` over a span: what retimed() could store.
ClockMap map_between(const ClockClass& clock, const ClockClass& retimed, const StampRange& span);

}  // namespace entrain::ctf
