// SPDX-License-Identifier: BSD-3-Clause
#include "causal/clock_subset.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "causal/evidence.hpp"
#include "causal/fit_by_groups.hpp"

namespace entrain::causal {
namespace {

constexpr std::int64_t k_whole_span = 1'000'000'000;

/// Every third clock swings, and exchanges messages with all others that do.
struct Lonely {
  explicit Lonely(std::uint32_t clocks) {
    RandomStream random(41, 0);
    const std::uint32_t swinging = clocks / 3;
    const auto error = [](std::uint32_t clock, std::int64_t time) {
      const double share = static_cast<double>(time) / k_whole_span;
      return std::llround(20'000 * std::sin(std::numbers::pi * share) * std::sin(clock));
    };
    for (int i = 0; i < 2'000; ++i) {
      ClockConstraint constraint;
      const auto from = static_cast<std::uint32_t>(random.below(swinging));
      constraint.from = 3 * from;
      constraint.to =
          3 * static_cast<std::uint32_t>((from + 1 + random.below(swinging - 1)) % swinging);
      const auto sent = static_cast<std::int64_t>(random.below(k_whole_span));
      const std::int64_t received = sent + 500 + static_cast<std::int64_t>(random.below(2'000));
      constraint.from_time = sent + error(constraint.from, sent);
      constraint.to_time = received + error(constraint.to, received);
      constraint.slack = constraint.to_time - constraint.from_time;
      constraints.push_back(constraint);
    }
    for (std::uint32_t c = 0; c < clocks; ++c) {
      for (const std::int64_t time : {std::int64_t{0}, k_whole_span})
        sessions.push_back({c, time, 100});
    }
    problem.clocks = clocks;
    problem.end = k_whole_span;
    problem.knots = 33;
    problem.sigma = 100;
    problem.constraints = constraints;
    problem.sessions = sessions;
  }
  Lonely(const Lonely&) = delete;
  Lonely& operator=(const Lonely&) = delete;

  std::vector<ClockConstraint> constraints;
  std::vector<SessionConstraint> sessions;
  CausalProblem problem;
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
  EXPECT_EQ(joined_clocks(all.problem, 2), (std::vector<std::uint32_t>{0, 3, 6, 7, 9}));
  EXPECT_TRUE(joined_clocks(CausalProblem{}).empty());
}

TEST(JoinedClocks, fits_of_all_clocks_are_those_of_these) {
  const Lonely all(18);
  const ClockSubset joined(all.problem, joined_clocks(all.problem));
  const CausalFit part = fit_causal(joined.problem(), 20'000),
                  whole = fit_causal(all.problem, 20'000);
  const CausalFit found = fit_all_clocks(all.problem, 20'000);
  ASSERT_TRUE(part.converged && whole.converged && found.converged);
  expect_extended(found.errors, part.errors, joined);
  expect_extended(whole.errors, part.errors, joined);
  EXPECT_GT(found.active, 0u);
  EXPECT_EQ(found.active, whole.active);
}

TEST(JoinedClocks, tell_the_amplitude_alone) {
  const Lonely all(18);
  const ClockSubset joined(all.problem, joined_clocks(all.problem));
  const CausalFit part = choose_fit(joined.problem(), 65), whole = choose_fit(all.problem, 65);
  ASSERT_TRUE(part.converged && whole.converged);
  EXPECT_EQ(part.amplitude, whole.amplitude);
  expect_extended(whole.errors, part.errors, joined);
  const CausalFit again = choose_fit(all.problem, 65, whole);
  EXPECT_TRUE(again.converged);
  EXPECT_EQ(again.errors.values().size(), 18 * again.errors.knots());
}

TEST(JoinedClocks, where_there_are_none_nothing_bends) {
  Lonely all(12);
  all.problem.constraints = {};
  const CausalFit fit = fit_all_clocks(all.problem, 20'000);
  EXPECT_TRUE(fit.converged);
  for (const double error : fit.errors.values()) EXPECT_EQ(error, 0);
}

}  // namespace
}  // namespace entrain::causal
