// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <entrain/clock_map.hpp>

#include "engine/timeline.hpp"

namespace entrain::engine {

/// Tells the steps of clocks that were set back by the times as stored: their stamps count on, and
/// a step was found beside what they count on by. Changes Timeline::told. Returns, per clock, its
/// stamps -> as stored (Timeline::stored), which fall where its map steps; empty if all are as
/// stored.
std::vector<ClockMap> tell_as_stored(Timeline& timeline);

}  // namespace entrain::engine
