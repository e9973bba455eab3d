// SPDX-License-Identifier: BSD-3-Clause
#include "causal/project.hpp"

#include <cstdlib>
#include <vector>

#include <gtest/gtest.h>

#include "causal/random_clocks_testing.hpp"
#include "constraints/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::causal {
namespace {

using testing::RandomClocks;

/// Theorem: where clocks exist that violate nothing, nothing is violated.
TEST(ProjectOntoEdges, violates_nothing_where_that_is_possible_in_10000_random_traces) {
  std::size_t feasible = 0, moved = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    RandomClocks clocks(seed);
    if (seed % 2 == 1) clocks.limit_means(testing::k_rate_ppb / 3);
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
  EXPECT_GT(feasible, 5'000);
  EXPECT_LT(feasible, 9'900);
  EXPECT_GT(moved, 3'000);
}

/// Two clocks, and messages every 10 ms. One in the middle arrives 1,000 ticks too early.
TEST(ProjectOntoEdges, moves_clocks_no_faster_than_they_wander) {
  trace::testing::TraceBuilder b(2);
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::uint64_t time = 1'000'000'000 + i * 10'000'000;
    b.message(trace::EventKind::send, 0, time, 1);
    b.message(trace::EventKind::recv, 1, time + (i == 50 ? -1'000 : 400'000), 0);
    b.message(trace::EventKind::send, 1, time + 5'000'000, 0);
    b.message(trace::EventKind::recv, 0, time + 5'400'000, 1);
  }
  constraints::testing::WholeTrace whole(b.trace());
  std::vector<ClockMap> maps(2);
  const auto projection =
      project_onto_edges(whole.context(), whole.processes(), {550'000, 500'000, false}, maps);
  ASSERT_TRUE(projection);
  EXPECT_EQ(projection->contradictions, 0U);
  EXPECT_EQ(projection->moved, 1'001);
  const auto offset = [&](std::uint64_t time) {
    return maps[1](time) - static_cast<std::int64_t>(time);
  };
  EXPECT_EQ(offset(1'500'000'000 - 1'000), 1'001);
  // 10 ppm: 100 ticks in 10 ms.
  for (std::uint64_t time = 1'000'000'000; time < 1'990'000'000; time += 10'000'000) {
    EXPECT_LE(std::abs(offset(time + 10'000'000) - offset(time)), 102) << time;
  }
}

}  // namespace
}  // namespace entrain::causal
