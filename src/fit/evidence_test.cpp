// SPDX-License-Identifier: BSD-3-Clause
#include "fit/evidence.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

#include <gtest/gtest.h>

namespace entrain::fit {
namespace {

constexpr std::int64_t k_span = 10'000'000'000;
constexpr std::int64_t k_width = 1'000;

ClockConstraint constraint(std::uint32_t from, std::uint32_t to, std::int64_t time) {
  return {from, to, time, time, 0};
}

/// Numbers of the two-sided constraints.
std::vector<std::size_t> held(const std::vector<ClockConstraint>& constraints, std::size_t clocks) {
  const auto kept = two_sided_constraints(constraints, clocks, 0, k_width);
  std::vector<std::size_t> numbers;
  std::size_t at = 0;
  for (const ClockConstraint& one : kept) {
    while (constraints[at].from != one.from || constraints[at].to != one.to ||
           constraints[at].to_time != one.to_time) {
      ++at;
    }
    numbers.push_back(at++);
  }
  return numbers;
}

using Numbers = std::vector<std::size_t>;

TEST(TwoSidedConstraints, needs_a_way_back) {
  EXPECT_EQ(held({constraint(0, 1, 10), constraint(0, 1, 20), constraint(1, 2, 30)}, 3), Numbers{});
  EXPECT_EQ(held({constraint(0, 1, 10), constraint(1, 0, 20), constraint(1, 2, 30)}, 3),
            (Numbers{0, 1}));
  EXPECT_EQ(held({constraint(0, 1, 10), constraint(1, 2, 20), constraint(2, 0, 30)}, 3),
            (Numbers{0, 1, 2}));
  // Two cycles that one constraint joins: it is no part of any.
  EXPECT_EQ(held({constraint(0, 1, 1), constraint(1, 0, 2), constraint(1, 2, 3),
                  constraint(2, 3, 4), constraint(3, 2, 5)},
                 4),
            (Numbers{0, 1, 3, 4}));
  EXPECT_EQ(held({}, 3), Numbers{});
}

TEST(TwoSidedConstraints, a_way_back_with_much_slack_does_not_count) {
  std::vector<ClockConstraint> constraints{constraint(0, 1, 10), constraint(1, 0, 20)};
  constraints[1].slack = 100;
  EXPECT_EQ(two_sided_constraints(constraints, 2, 0, k_width, {.most_slack = 100}).size(), 2u);
  EXPECT_TRUE(two_sided_constraints(constraints, 2, 0, k_width, {.most_slack = 99}).empty());
  // A clock with a known error of 50 has less slack.
  const ClockErrors errors(0, 1'000, 2, {0, 0, -50, -50});
  EXPECT_EQ(two_sided_constraints(constraints, 2, 0, k_width, {.most_slack = 99, .errors = &errors})
                .size(),
            2u);
  // Between clocks that others hold, it counts.
  constraints.push_back(constraint(1, 0, 30));
  EXPECT_EQ(two_sided_constraints(constraints, 2, 0, k_width, {.most_slack = 99}).size(), 3u);
}

TEST(TwoSidedConstraints, needs_it_at_about_the_same_time) {
  EXPECT_EQ(held({constraint(0, 1, 500), constraint(1, 0, 1'500)}, 2), (Numbers{0, 1}));
  EXPECT_EQ(held({constraint(0, 1, 500), constraint(1, 0, 2'500)}, 2), Numbers{});
  EXPECT_EQ(held({constraint(0, 1, 500), constraint(1, 0, 900), constraint(0, 1, 1'100),
                  constraint(0, 1, 5'000)},
                 2),
            (Numbers{0, 1, 2}));
}

TEST(TwoSidedConstraints, follows_long_cycles) {
  constexpr std::uint32_t k_clocks = 100'000;  // would be too deep for a recursion
  std::vector<ClockConstraint> constraints;
  for (std::uint32_t c = 0; c < k_clocks; ++c)
    constraints.push_back(constraint(c, (c + 1) % k_clocks, 10));
  EXPECT_EQ(two_sided_constraints(constraints, k_clocks, 0, k_width).size(), constraints.size());
  constraints.pop_back();
  EXPECT_TRUE(two_sided_constraints(constraints, k_clocks, 0, k_width).empty());
}

TEST(TwoSidedConstraints, any_number_of_threads_finds_the_same) {
  std::vector<ClockConstraint> constraints;
  for (std::uint32_t i = 0; i < 20'000; ++i) {
    constraints.push_back(constraint(i * 7 % 50, (i * 7 + 1 + i % 3) % 50, i * 37 % 200'000));
  }
  const auto of = [&](unsigned threads) {
    return two_sided_constraints(constraints, 50, 0, k_width, {.threads = threads}).size();
  };
  EXPECT_GT(of(1), 0u);
  EXPECT_LT(of(1), constraints.size());
  EXPECT_EQ(of(2), of(1));
  EXPECT_EQ(of(7), of(1));
}

TEST(WithoutCommonMode, keeps_differences_of_clocks_that_constraints_connect) {
  // Clocks 0 to 2 are connected, 3 and 4 are, 5 is alone.
  const std::vector<ClockConstraint> constraints{constraint(0, 1, 1), constraint(2, 1, 1),
                                                 constraint(4, 3, 1)};
  std::mt19937_64 random(3);
  std::vector<double> values(6 * 5);
  for (double& value : values) value = static_cast<double>(random() % 1'000);
  const ClockErrors errors(100, 10, 5, values);
  const ClockErrors balanced = without_common_mode(errors, 6, constraints, {});
  EXPECT_EQ(balanced.begin(), 100);
  EXPECT_EQ(balanced.distance(1), 10);
  for (std::size_t k = 0; k < 5; ++k) {
    const auto of = [&](std::uint32_t c) { return balanced.of(c)[k]; };
    EXPECT_NEAR(of(0) + of(1) + of(2), 0, 1e-9);
    EXPECT_NEAR(of(3) + of(4), 0, 1e-9);
    EXPECT_EQ(of(5), 0);
    EXPECT_NEAR(of(0) - of(2), errors.of(0)[k] - errors.of(2)[k], 1e-9);
    EXPECT_NEAR(of(3) - of(4), errors.of(3)[k] - errors.of(4)[k], 1e-9);
  }
}

TEST(WithoutCommonMode, keeps_measured_clocks_beside_others) {
  const std::vector<ClockConstraint> constraints{constraint(0, 1, 1), constraint(2, 1, 1)};
  const std::vector<constraints::SessionConstraint> sessions{{0, 100, 1}, {2, 100, 1}};
  const ClockErrors errors(100, 10, 1, {5, 1'000'000, 7, 8});
  const ClockErrors balanced = without_common_mode(errors, 4, constraints, sessions);
  EXPECT_NEAR(balanced.of(0)[0], -1, 1e-9);
  EXPECT_NEAR(balanced.of(1)[0], 999'994, 1e-9);
  EXPECT_NEAR(balanced.of(2)[0], 1, 1e-9);
  EXPECT_NEAR(balanced.of(3)[0], 0, 1e-9);
}

/// Messages both ways between neighbours of a ring whose errors are `error(clock, time)`.
template <class Error>
std::vector<ClockConstraint> messages(std::uint32_t clocks, int count, const Error& error) {
  std::mt19937_64 random(5);
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  std::vector<ClockConstraint> constraints;
  for (int i = 0; i < count; ++i) {
    ClockConstraint one;
    one.from = static_cast<std::uint32_t>(random() % clocks);
    one.to = (one.from + (random() % 2 == 0 ? 1 : clocks - 1)) % clocks;
    const double sent = uniform() * static_cast<double>(k_span);
    const double received = sent + 1'500 - 5'000 * std::log(1 - uniform());
    one.from_time = std::llround(sent + error(one.from, sent));
    one.to_time = std::llround(received + error(one.to, received));
    one.slack = one.to_time - one.from_time;
    constraints.push_back(one);
  }
  return constraints;
}

template <class Error>
HeldOut looked_at(const Error& error, int count) {
  constexpr std::uint32_t k_clocks = 8;
  const std::vector<ClockConstraint> constraints = messages(k_clocks, count, error);
  std::vector<SessionConstraint> sessions;
  for (std::uint32_t c = 0; c < k_clocks; ++c) {
    for (const std::int64_t time : {std::int64_t{0}, k_span}) sessions.push_back({c, time, 1'000});
  }
  CausalProblem problem;
  problem.clocks = k_clocks;
  problem.end = k_span;
  problem.sigma = 500;
  problem.constraints = constraints;
  problem.sessions = sessions;
  const CausalFit fit = choose_fit(problem, 257);
  EXPECT_TRUE(fit.converged);
  EXPECT_GT(fit.active, 0u);
  return hold_out(problem, fit, k_span / 512 + 1);
}

TEST(HoldOut, supports_bends_that_are_there) {
  const HeldOut slow = looked_at(
      [](std::uint32_t clock, double time) {
        return 30'000 *
                   std::sin(3 * std::numbers::pi * time / static_cast<double>(k_span) + clock) -
               30'000 * std::sin(static_cast<double>(clock));
      },
      5'000);
  EXPECT_TRUE(slow.supports_bends(true));
  EXPECT_LT(slow.bent, 0.02 * slow.unbent);
}

TEST(HoldOut, supports_none_that_messages_are_too_few_for) {
  const HeldOut fast = looked_at(
      [](std::uint32_t clock, double time) {
        return 30'000 *
               std::sin(900 * std::numbers::pi * time / static_cast<double>(k_span) + clock);
      },
      1'000);
  EXPECT_GT(fast.unbent, 0);
  EXPECT_FALSE(fast.supports_bends(true));
}

}  // namespace
}  // namespace entrain::fit
