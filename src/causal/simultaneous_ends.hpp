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
#include "causal/clock_lines.hpp"

namespace entrain::causal {

/// Ends of calls that may coincide.
struct CallEnds {
  struct End {
    std::uint32_t clock = 0;
    std::uint64_t time = 0;  ///< by the clock's present map, ticks
    friend auto operator<=>(const End&, const End&) = default;
  };
  std::vector<End> ends;           ///< those of a call stand together
  std::vector<std::size_t> first;  ///< per call the first one in `ends`; and their number
};

/// Straight lines through ends of collectives that coincide: one per clock, to the same time.
/// Beside them, where clocks wander, what bends the lines.
///
/// Example: three clocks end five calls at 100, 200, ..., the third one 30 later each time. Against
/// any one of the first two its line is -30, theirs are 0.
struct SimultaneousEnds {
  struct Line {
    double offset = 0;            ///< ticks at the stamp `at`
    double rate = 0;              ///< by which the offset grows, ticks per tick
    std::uint64_t at = 0;         ///< near the middle of the clock's ends
    StampRange events{};          ///< for which the line is made
    std::uint64_t number = 0;     ///< of ends
    std::uint32_t component = 0;  ///< the first of the clocks that calls connect with it
  };
  /// A point to which a clock wandered from its line.
  struct Bend {
    std::uint64_t at = 0;  ///< stamp
    double offset = 0;     ///< ticks to be added beside the line
  };
  std::vector<Line> lines;               ///< as Clocks::clocks
  std::vector<std::vector<Bend>> bends;  ///< as `lines`, or empty: none bends
  std::int64_t spread = 0;  ///< median distance of an end from the middle of its call's, ticks
};

/// Finds for every clock the straight line under which the ends of each instance that says
/// `ends_coincide` are as close together as can be: offsets by medians, rates only as far as they
/// stand out of the noise and at least 4 ends tell them. Then finds bends (find_bends). A clock
/// without such ends keeps its time. Empty where that cannot be: less than 2 clocks with 3 such
/// ends, or chains of instances that connect clocks too loosely. Linear in the
/// number of ends; the same for any number of `threads` (0: all cores). Errors:
/// ErrorKind::interrupted when `progress` (may be null) says so.
Result<std::optional<SimultaneousEnds>> find_simultaneous_ends(const Clocks& clocks,
                                                               const Edges& edges, unsigned threads,
                                                               const Progress* progress);

/// How a fit is made. Errors of `check`, which is asked in every round whether to go on, end it.
struct FitControl {
  unsigned threads = 1;        ///< 0: all cores
  std::size_t least_ends = 0;  ///< of every clock; where one has less, nothing is found
  std::function<Result<void>()> check;
};

/// The same for calls by which `clocks` are to be set, all of them.
Result<std::optional<SimultaneousEnds>> find_simultaneous_ends(std::size_t clocks,
                                                               const CallEnds& calls,
                                                               const FitControl& control);

/// Threads that pay for work on so many ends.
unsigned threads_for(const FitControl& control, std::size_t ends);

/// Calls `body(first, last)` for blocks of calls [first, last), on several threads where that pays.
template <class Body>
void for_each_block(const FitControl& control, std::span<const std::size_t> first_of_call,
                    const Body& body) {
  constexpr std::size_t k_block = 1024;
  const std::size_t calls = first_of_call.size() - 1, blocks = (calls + k_block - 1) / k_block;
  for_each_in_parallel(threads_for(control, first_of_call.back()), blocks, [&](std::size_t block) {
    body(block * k_block, std::min(calls, (block + 1) * k_block));
  });
}

/// Median distance of an end from the middle of its call's, ticks; 0 without ends.
std::int64_t spread_of(const CallEnds& calls);

/// The lines by which the clocks of a component show the time of its first one.
std::vector<ClockLine> lines_of(const SimultaneousEnds& ends);

/// The maps by which all clocks show the time of `reference`; without one, that of the clock whose
/// offset is the middle one. A clock that differs from it by no more than the noise stays as it is,
/// and so does one without ends.
/// Empty if some rate differs from the reference's by more than `most_rate` (below 1), which no
/// clock's does, if calls do not connect all clocks that have ends, if the reference has none, or
/// if no map has such offsets (2^61 ticks).
std::optional<std::vector<ClockMap>> maps_of(const SimultaneousEnds& ends,
                                             std::optional<std::uint32_t> reference,
                                             double most_rate);

}  // namespace entrain::causal
