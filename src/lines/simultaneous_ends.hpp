// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "base/executor.hpp"
#include "constraints/call_ends.hpp"
#include "lines/clock_lines.hpp"

namespace entrain::lines {

/// Straight lines through simultaneous ends of collectives: one per clock, to a common time. Where
/// clocks wander, also bends of the lines.
///
/// Example: three clocks end five calls at 100, 200, ..., the third one 30 later each time. Its
/// line is -30, those of the others are 0.
struct SimultaneousEnds {
  struct Line {
    double offset = 0;            ///< ticks, at the stamp `at`
    double rate = 0;              ///< growth of the offset, ticks per tick
    std::uint64_t at = 0;         ///< near the middle of the clock's ends
    StampRange events{};          ///< stamps that the line is valid for
    std::uint64_t number = 0;     ///< number of ends
    std::uint32_t component = 0;  ///< first clock that calls connect it with
  };
  /// A knot of the wander about a line.
  struct Bend {
    std::uint64_t at = 0;  ///< stamp
    double offset = 0;     ///< ticks to be added to the line
  };
  std::vector<Line> lines;               ///< one per clock
  std::vector<std::vector<Bend>> bends;  ///< one list per clock; empty if none bends
  std::int64_t spread = 0;  ///< median distance of an end from the middle of its call, ticks
};

/// Finds the lines under which the ends of each instance marked `ends_coincide` are closest
/// together: offsets by medians, rates only if they exceed the noise and at least 4 ends show them.
/// Then finds bends (find_bends()). A clock without such ends keeps its time. Empty if fewer than 2
/// clocks have 3 such ends, or if chains of instances connect clocks too loosely. Linear in the
/// number of ends; the same for any number of `threads` (0: all cores). Errors:
/// ErrorKind::interrupted when `progress` (may be null) is cancelled.
Result<std::optional<SimultaneousEnds>> find_simultaneous_ends(const Clocks& clocks,
                                                               const Edges& edges, unsigned threads,
                                                               const Progress* progress);

/// Execution of a fit. `check` is called in every round; its errors end the fit.
struct FitControl {
  unsigned threads = 1;        ///< 0: all cores
  std::size_t least_ends = 0;  ///< ends every clock must have, else nothing is found
  std::function<Result<void>()> check;
};

/// Finds lines, without bends, from calls of `clocks` clocks.
Result<std::optional<SimultaneousEnds>> find_simultaneous_ends(std::size_t clocks,
                                                               const constraints::CallEnds& calls,
                                                               const FitControl& control);

/// Threads worth using for so many ends.
inline unsigned threads_for(const FitControl& control, std::size_t ends) {
  constexpr std::size_t k_ends_that_pay = 20'000;
  return ends < k_ends_that_pay ? 1 : control.threads;
}

/// Calls `body(first, last)` for blocks of calls [first, last), on several threads where that pays.
template <class Body>
void for_each_block(const FitControl& control, std::span<const std::size_t> first_of_call,
                    const Body& body) {
  constexpr std::size_t k_block = 1024;  // calls per task of a thread
  const std::size_t calls = first_of_call.size() - 1, blocks = (calls + k_block - 1) / k_block;
  for_each_in_parallel(threads_for(control, first_of_call.back()), blocks, [&](std::size_t block) {
    body(block * k_block, std::min(calls, (block + 1) * k_block));
  });
}

/// Median distance of an end from the middle of its call, ticks; 0 without ends.
std::int64_t spread_of(const constraints::CallEnds& calls);

/// Lines by which the clocks of a component show the time of its first one.
std::vector<ClockLine> lines_of(const SimultaneousEnds& ends);

/// Returns the maps by which all clocks show the time of `reference`; without one, that of the
/// clock with the median offset. A clock that differs from it by no more than the noise stays as it
/// is, and so does one without ends. Empty if some rate differs from the reference's by more than
/// `most_rate` (below 1), if calls do not connect all clocks that have ends, if the reference has
/// none, or if an offset is too large for a map (2^61 ticks).
std::optional<std::vector<ClockMap>> maps_of(const SimultaneousEnds& ends,
                                             std::optional<std::uint32_t> reference,
                                             double most_rate);

}  // namespace entrain::lines
