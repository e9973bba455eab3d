// SPDX-License-Identifier: BSD-3-Clause
#include "fit/clock_subset.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "fit/choose_fit.hpp"
#include "fit/figures_testing.hpp"
#include "fit/swinging_testing.hpp"

namespace entrain::fit {
namespace {

/// Clocks that swing, and messages between all that are less than `distance` apart.
struct Swinging : SwingingClocks {
  Swinging(std::uint32_t clocks, std::uint32_t distance, std::size_t messages, double ticks)
      : SwingingClocks(7, ticks) {
    add_messages_on_ring(clocks, distance - 1, messages);
    measure(clocks);
  }
};

TEST(ClockSample, few_stand_for_many) {
  const Swinging all(100, 50, 60'000, 30'000);
  const ClockSample some(all.problem, 300);
  ASSERT_TRUE(some.is_useful());
  EXPECT_TRUE(some.is_nearly_complete());
  EXPECT_GE(some.problem().clocks, 16u);
  EXPECT_LE(some.problem().clocks, 40u);
  for (const ClockConstraint& constraint : some.problem().constraints) {
    EXPECT_LT(constraint.from, some.problem().clocks);
    EXPECT_LT(constraint.to, some.problem().clocks);
  }
  EXPECT_EQ(some.problem().sessions.size(), 2 * some.problem().clocks);
}

TEST(ClockSample, neighbours_on_a_ring_are_not_nearly_complete) {
  const Swinging all(1000, 2, 60'000, 30'000);
  const ClockSample some(all.problem, 300);
  EXPECT_TRUE(some.is_useful());
  EXPECT_FALSE(some.is_nearly_complete());
}

TEST(ClockSample, of_few_clocks_all_are_needed) {
  EXPECT_FALSE(ClockSample(Swinging(16, 8, 6'000, 30'000).problem, 300).is_useful());
}

TEST(ClockSample, clocks_that_violate_nothing_tell_nothing) {
  EXPECT_FALSE(ClockSample(Swinging(100, 50, 6'000, 0).problem, 300).is_useful());
}

TEST(ClockSample, without_constraints_there_is_one) {
  CausalProblem problem;
  problem.clocks = 5;
  problem.end = SwingingClocks::k_span;
  problem.knots = 33;
  const ClockSample some(problem, 300);
  EXPECT_FALSE(some.is_useful());
  EXPECT_EQ(some.problem().clocks, 1u);
}

TEST(ChooseFit, of_many_clocks_comes_close_to_the_truth) {
  const Swinging all(100, 50, 60'000, 30'000);
  const CausalFit fit = choose_fit(all.problem, 65);
  ASSERT_TRUE(fit.converged);
  EXPECT_EQ(fit.errors.values().size(), 100 * fit.errors.knots());
  EXPECT_LT(FitFigures(all.problem, fit).worst_violation, 1'000);
  const ClockErrors& e = fit.errors;
  for (std::uint32_t c = 0; c < 100; ++c) {
    const double truth = 30'000 * (std::sin(c) - std::sin(0));
    EXPECT_NEAR(e(c, SwingingClocks::k_span / 2) - e(0, SwingingClocks::k_span / 2), truth, 2'000)
        << c;
  }
}

}  // namespace
}  // namespace entrain::fit
