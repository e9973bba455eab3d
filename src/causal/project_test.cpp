// SPDX-License-Identifier: BSD-3-Clause
#include "causal/project.hpp"

#include <gtest/gtest.h>

#include "causal/random_clocks_testing.hpp"

namespace entrain::causal {
namespace {

using testing::RandomClocks;

/// Theorem: where clocks exist that violate nothing, nothing is violated.
TEST(ProjectOntoEdges, violates_nothing_where_that_is_possible_in_10000_random_traces) {
  std::size_t feasible = 0, moved = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    RandomClocks clocks(seed);
    const std::vector<ClockMap> estimate = clocks.estimate();
    std::vector<ClockMap> maps = estimate;
    const auto projection = clocks.project(maps);
    ASSERT_TRUE(projection);
    const std::size_t before = clocks.violations(estimate);
    if (clocks.is_feasible()) {
      ++feasible;
      moved += projection->moved > 0 ? 1 : 0;
      ASSERT_EQ(projection->contradictions, 0) << seed;
      ASSERT_EQ(clocks.violations(maps), 0) << seed;
      ASSERT_TRUE(before == 0 || clocks.is_within_rates(maps)) << seed;
    } else {
      // To the tick such clocks may exist even so.
      ASSERT_TRUE(projection->contradictions == 1 || clocks.violations(maps) == 0) << seed;
    }
    if (before == 0 || projection->moved == 0) {
      ASSERT_EQ(maps, estimate) << seed;
    }
  }
  EXPECT_GT(feasible, 7'000);
  EXPECT_LT(feasible, 9'900);
  EXPECT_GT(moved, 3'000);
}

}  // namespace
}  // namespace entrain::causal
