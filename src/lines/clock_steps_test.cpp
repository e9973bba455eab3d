// SPDX-License-Identifier: BSD-3-Clause
#include "lines/clock_steps.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace entrain::lines {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t k_ms = 1'000'000;

/// Limits of 0.2 ms on both sides of an offset, every 50 ms from `begin` on.
void add(std::vector<OffsetLimit>& limits, std::uint64_t begin_ms, int number,
         std::int64_t offset) {
  for (int i = 0; i < number; ++i) {
    const std::uint64_t time = (begin_ms + static_cast<std::uint64_t>(i) * 50) * k_ms;
    limits.push_back({time, offset + k_ms / 5, true});
    limits.push_back({time + 1000, offset - k_ms / 5, false});
  }
}

TEST(ClockSteps, a_clock_that_is_set_shows_a_step) {
  for (const std::int64_t step : {8 * k_ms, -8 * k_ms}) {
    std::vector<OffsetLimit> limits;
    add(limits, 1000, 20, 0);
    add(limits, 2070, 20, step);  // 120 ms later
    const ClockSteps steps = find_steps(limits, k_ms / 2);
    EXPECT_THAT(steps.starts, ElementsAre(40U));
    EXPECT_EQ(steps.back, step > 0);
  }
}

TEST(ClockSteps, a_clock_may_be_set_several_times) {
  std::vector<OffsetLimit> limits;
  for (int i = 0; i < 4; ++i) add(limits, 1000 + 1070 * static_cast<unsigned>(i), 20, i * 9 * k_ms);
  EXPECT_THAT(find_steps(limits, k_ms / 2).starts, ElementsAre(40U, 80U, 120U));
}

TEST(ClockSteps, drift_and_what_is_below_the_tolerance_are_no_steps) {
  std::vector<OffsetLimit> limits;
  for (int i = 0; i < 100; ++i) add(limits, 1000 + 50 * static_cast<unsigned>(i), 1, i * 40'000);
  add(limits, 6000, 10, 99 * 40'000 + k_ms / 2);
  EXPECT_THAT(find_steps(limits, k_ms / 2).starts, IsEmpty());
  EXPECT_THAT(find_steps({}, k_ms).starts, IsEmpty());
}

TEST(ClockSteps, what_jumps_all_the_time_is_no_clock_that_was_set) {
  std::vector<OffsetLimit> limits;
  for (int i = 0; i < 100; ++i) {
    add(limits, 1000 + 50 * static_cast<unsigned>(i), 1, i % 2 * 9 * k_ms);
  }
  EXPECT_THAT(find_steps(limits, k_ms / 2).starts, IsEmpty());
}

}  // namespace
}  // namespace entrain::lines
