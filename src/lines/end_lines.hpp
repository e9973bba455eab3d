// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/error.hpp>

#include "base/executor.hpp"

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
    std::uint64_t at = 0;         ///< a stamp near the middle of the clock's ends
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

/// Execution of a fit. `check` is called in every round; its errors end the fit.
struct FitControl {
  unsigned threads = 1;        ///< 0: all cores
  std::size_t least_ends = 0;  ///< ends every clock must have, else nothing is found
  std::function<Result<void>()> check;
};

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

}  // namespace entrain::lines
