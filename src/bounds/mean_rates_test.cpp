// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/mean_rates.hpp"

#include <gtest/gtest.h>

namespace entrain::bounds {
namespace {

TEST(MeanRates, limits_are_those_of_stamps_whatever_the_lines) {
  // The line of clock 1 has taken out that it is 100 ppm too slow already; clock 2's has not.
  const std::vector<constraints::BaseLine> lines{{0, 0, 0}, {0, 0, 1e-4}, {0, 0, 0}};
  const auto limits = limits_by_mean(lines, 0, 200'000);
  EXPECT_EQ(limits[0], 0);
  EXPECT_NEAR(static_cast<double>(limits[1]), 300'020, 2);
  EXPECT_NEAR(static_cast<double>(limits[2]), 200'000, 2);
}

TEST(MeanRates, no_limit_exceeds_the_largest) {
  const std::vector<constraints::BaseLine> lines{{0, 0, 0}, {0, 0, 0.3}};
  EXPECT_EQ(limits_by_mean(lines, 0, 200'000)[1], k_most_rate_ppb);
}

/// Clock 1 is tied to the reference to +-10 ticks at the begin, and to `later` +-10 at the end.
DifferenceConstraints drifting(std::int64_t later) {
  static std::vector<ClockConstraint> constraints;
  constraints = {{0, 1, 0, 0, 10},
                 {1, 0, 0, 0, 10},
                 {0, 1, 1'000'000, 1'000'000, later + 10},
                 {1, 0, 1'000'000, 1'000'000, 10 - later}};
  ConstraintGrid grid;
  grid.clocks = 2;
  grid.width = 1'001;
  grid.windows = 1'000;
  grid.constraints = constraints;
  return DifferenceConstraints(grid);
}

TEST(MeanRates, the_smallest_limit_that_a_trace_allows) {
  const std::vector<constraints::BaseLine> lines(2);
  // 1,020 - 20 ticks in a million: 1,000 ppm, of which the wander may be 50.
  const auto least = least_mean_rate(drifting(1'020), lines, 50'000, 200'000);
  ASSERT_TRUE(least);
  EXPECT_GT(*least, 945'000);
  EXPECT_LT(*least, 1'020'000);
}

TEST(MeanRates, there_may_be_none) {
  const std::vector<constraints::BaseLine> lines(2);
  EXPECT_FALSE(least_mean_rate(drifting(500'000), lines, 50'000, 200'000));
}

}  // namespace
}  // namespace entrain::bounds
