// SPDX-License-Identifier: BSD-3-Clause
#include "fit/evidence.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace entrain::fit {
namespace {

TEST(LatencyScale, is_a_quarter_of_the_shortest_round_trip) {
  // Clock 1 is 1000 ahead. Latencies 300 and 500; a shorter one in another window.
  const std::vector<ClockConstraint> constraints{
      {0, 1, 0, 1300, 1300}, {1, 0, 2000, 1500, -500}, {0, 1, 10'000, 11'100, 1100}};
  EXPECT_DOUBLE_EQ(latency_scale(constraints, 0, 5'000, nullptr), 200);
  EXPECT_DOUBLE_EQ(latency_scale(constraints, 0, 50'000, nullptr), 150);
  EXPECT_DOUBLE_EQ(latency_scale({}, 0, 5'000, nullptr), 1);
}

TEST(LatencyScale, one_direction_alone_says_nothing) {
  const std::vector<ClockConstraint> constraints{{0, 1, 0, 1300, 1300}, {0, 1, 50, 1400, 1350}};
  EXPECT_DOUBLE_EQ(latency_scale(constraints, 0, 5'000, nullptr), 1);
}

TEST(LatencyScale, known_errors_are_subtracted) {
  const std::vector<ClockConstraint> constraints{{0, 1, 0, 1300, 1300}, {1, 0, 2000, 1500, -500}};
  // Clock 1 is off by 1000 until time 1000, then by ever more.
  const ClockErrors errors(0, 1'000, 3, {0, 0, 0, 1'000, 1'000, 1'070});
  const double there = 1'300 - 1'021, back = -500 + 1'070;
  EXPECT_DOUBLE_EQ(latency_scale(constraints, 0, 5'000, &errors), (there + back) / 4);
}

}  // namespace
}  // namespace entrain::fit
