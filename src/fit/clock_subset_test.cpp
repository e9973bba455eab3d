// SPDX-License-Identifier: BSD-3-Clause
#include "fit/clock_subset.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "fit/evidence.hpp"
#include "fit/fit_solver.hpp"
#include "fit/swinging_testing.hpp"

namespace entrain::fit {
namespace {

/// Every third clock swings, and exchanges messages with all others that do.
struct Lonely : SwingingClocks {
  explicit Lonely(std::uint32_t clocks) : SwingingClocks(41, 20'000) {
    const std::uint32_t swinging = clocks / 3;
    for (int i = 0; i < 2'000; ++i) {
      const auto from = static_cast<std::uint32_t>(random.below(swinging));
      const auto to =
          static_cast<std::uint32_t>((from + 1 + random.below(swinging - 1)) % swinging);
      add_message(3 * from, 3 * to);
    }
    measure(clocks);
  }
};

/// The errors are those of `part` for its clocks, but for rounding, and 0 for all others.
void expect_extended(const ClockErrors& all, const ClockErrors& part, const ClockSubset& subset) {
  ASSERT_EQ(all.knots(), part.knots());
  for (std::uint32_t c = 0; c < subset.numbers().size(); ++c) {
    const std::uint32_t number = subset.numbers()[c];
    for (std::size_t k = 0; k < all.knots(); ++k) {
      const double expected = number == ClockSubset::none ? 0 : part.of(number)[k];
      EXPECT_NEAR(all.of(c)[k], expected, 1e-6) << c;
    }
  }
}

TEST(ClockSubset, has_what_is_said_of_its_clocks_alone) {
  const Lonely all(12);
  const ClockSubset some(all.problem, {0, 3, 5});
  EXPECT_EQ(some.problem().clocks, 3u);
  EXPECT_EQ(some.problem().sessions.size(), 6u);
  EXPECT_EQ(some.numbers()[5], 2u);
  EXPECT_EQ(some.numbers()[9], ClockSubset::none);
  const auto among =
      std::count_if(all.constraints.begin(), all.constraints.end(),
                    [](const ClockConstraint& one) { return one.from <= 3 && one.to <= 3; });
  EXPECT_EQ(some.problem().constraints.size(), static_cast<std::size_t>(among));
  for (const ClockConstraint& constraint : some.problem().constraints)
    EXPECT_EQ(constraint.from + constraint.to, 1u);
}

TEST(ClockSubset, all_clocks_are_the_problem_itself) {
  const Lonely all(3);
  const ClockSubset whole(all.problem, {0, 1, 2});
  EXPECT_EQ(whole.problem().constraints.data(), all.problem.constraints.data());
  EXPECT_EQ(whole.problem().sessions.data(), all.problem.sessions.data());
}

TEST(ClockSubset, errors_go_there_and_back) {
  const Lonely all(12);
  const ClockSubset some(all.problem, {1, 4});
  const ClockErrors errors(0, 10, 3, {1, 2, 3, 4, 5, 6});
  const ClockErrors whole = some.of_all(errors);
  EXPECT_EQ(whole.values().size(), 36u);
  EXPECT_EQ(whole.of(4)[2], 6);
  EXPECT_EQ(whole.of(2)[2], 0);
  EXPECT_TRUE(std::ranges::equal(some.errors(whole).values(), errors.values()));
  EXPECT_EQ(some.errors({}).knots(), 0u);
}

TEST(JoinedClocks, are_those_with_constraints_or_many_sessions) {
  Lonely all(12);
  EXPECT_EQ(joined_clocks(all.problem), (std::vector<std::uint32_t>{0, 3, 6, 9}));
  all.sessions.push_back({7, 5'000, 100});
  all.problem.sessions = all.sessions;
  EXPECT_EQ(joined_clocks(all.problem), (std::vector<std::uint32_t>{0, 3, 6, 7, 9}));
  EXPECT_TRUE(joined_clocks(CausalProblem{}).empty());
}

TEST(JoinedClocks, fits_of_all_clocks_are_those_of_these) {
  const Lonely all(18);
  const ClockSubset joined(all.problem, joined_clocks(all.problem));
  const CausalFit part = fit_causal(joined.problem(), 20'000),
                  whole = fit_causal(all.problem, 20'000);
  ASSERT_TRUE(part.converged && whole.converged);
  expect_extended(whole.errors, part.errors, joined);
  EXPECT_GT(part.active, 0u);
  EXPECT_EQ(part.active, whole.active);
}

TEST(JoinedClocks, tell_the_amplitude_alone) {
  const Lonely all(18);
  const ClockSubset joined(all.problem, joined_clocks(all.problem));
  const CausalFit part = choose_fit(joined.problem(), 65), whole = choose_fit(all.problem, 65);
  ASSERT_TRUE(part.converged && whole.converged);
  EXPECT_EQ(part.amplitude, whole.amplitude);
  expect_extended(whole.errors, part.errors, joined);
}

}  // namespace
}  // namespace entrain::fit
