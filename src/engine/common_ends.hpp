// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>

namespace entrain::engine {

/// Clocks set by ends of collectives that coincide.
struct CommonEnds {
  std::vector<ClockMap> maps;  ///< straight lines; as Clocks::clocks
  std::int64_t spread = 0;     ///< median distance of an end from the middle of its call's, ticks
  std::uint64_t kept = 0;      ///< clocks that stay as they are
};

/// Sets every clock by a straight line so that the ends of each instance that says
/// `ends_coincide` are as close together as can be: offsets by medians, rates only as far as they
/// stand out of the noise. The clock in the middle stays; so do others that differ from it by no
/// more than the noise. Empty where that cannot be: less than 4 such instances at a clock, or
/// clocks that no chain of instances connects well enough.
///
/// Example: three clocks end five calls at 100, 200, ..., the third one 30 later each time. It gets
/// -30; the others stay.
std::optional<CommonEnds> align_ends(const Clocks& clocks, const Edges& edges);

}  // namespace entrain::engine
