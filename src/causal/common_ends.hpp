// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

namespace entrain::causal {

/// Straight lines through ends of collectives that coincide: one per clock, to the same time.
///
/// Example: three clocks end five calls at 100, 200, ..., the third one 30 later each time. Against
/// any one of the first two its line is -30, theirs are 0.
struct CommonEnds {
  struct Line {
    double offset = 0;         ///< ticks at the stamp `at`
    double rate = 0;           ///< by which the offset grows, ticks per tick
    std::uint64_t at = 0;      ///< near the middle of the clock's ends
    StampRange events{};       ///< for which the line is made
    std::uint64_t number = 0;  ///< of ends
  };
  std::vector<Line> lines;  ///< as Clocks::clocks
  std::int64_t spread = 0;  ///< median distance of an end from the middle of its call's, ticks
};

/// Finds for every clock the straight line under which the ends of each instance that says
/// `ends_coincide` are as close together as can be: offsets by medians, rates only as far as they
/// stand out of the noise. Empty where that cannot be: less than 4 such ends at a clock, or clocks
/// that no chain of instances connects well enough. Linear in the number of ends. Errors:
/// ErrorKind::interrupted when `progress` (may be null) says so.
Result<std::optional<CommonEnds>> find_common_ends(const Clocks& clocks, const Edges& edges,
                                                   const Progress* progress);

/// The maps by which all clocks show the time of `reference`; without one, that of the clock whose
/// offset is the middle one. A clock that differs from it by no more than the noise stays as it is.
/// Empty if some rate differs from the reference's by more than `most_rate` (below 1), which no
/// clock's does, or if no map has such offsets (2^61 ticks).
std::optional<std::vector<ClockMap>> maps_of(const CommonEnds& ends,
                                             std::optional<std::uint32_t> reference,
                                             double most_rate);

}  // namespace entrain::causal
