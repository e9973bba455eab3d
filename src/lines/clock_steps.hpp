// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace entrain::lines {

/// A limit on what is to be added to a clock, ticks.
struct OffsetLimit {
  std::uint64_t time = 0;  ///< approximate time, by either clock
  std::int64_t offset = 0;
  bool upper = false;  ///< true: at most `offset`; false: at least
};

/// Where a clock was set.
struct ClockSteps {
  std::vector<std::size_t> starts;  ///< positions of limits at which new stretches begin, in order
  bool back = false;                ///< some time was shown twice
};

/// Finds steps of a clock: limits before and after them are such as no clock can meet that runs
/// within 1,000 ppm, by more than `tolerance` ticks. `limits` must be in order of time. Where
/// several positions explain the limits, it is the one after the longest gap. Empty if the clock
/// was not set, or more often than `k_most_steps`. Linear in the number of limits.
///
/// Example: at 1 s the offset is at least -1 and at most 1 ms, at 2 s at least 7 and at most 9 ms.
/// A stretch starts with the first limit at 2 s; the clock was set back.
ClockSteps find_steps(std::span<const OffsetLimit> limits, std::int64_t tolerance);

inline constexpr std::size_t k_most_steps = 16;

}  // namespace entrain::lines
