// SPDX-License-Identifier: BSD-3-Clause
#include "fit/interior_point.hpp"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "fit/active_set_selector.hpp"
#include "fit/fit_solver.hpp"
#include "fit/problem.hpp"

namespace entrain::fit {
namespace {

constexpr double k_unlimited = std::numeric_limits<double>::infinity();

/// Clocks that swing against each other, and messages both ways that hold them closely.
struct Swings {
  Swings(std::uint32_t clocks, std::size_t messages, double amplitude, std::uint64_t seed) {
    RandomStream random(seed, 0);
    for (std::size_t i = 0; i < messages; ++i) {
      const auto from = static_cast<std::uint32_t>(random.below(clocks));
      const auto to = static_cast<std::uint32_t>((from + 1 + random.below(clocks - 1)) % clocks);
      const auto sent = static_cast<std::int64_t>(random.below(k_span));
      const std::int64_t received = sent + 1000 + static_cast<std::int64_t>(random.below(20'000));
      const auto error = [&](std::uint32_t clock, std::int64_t time) {
        const double share = static_cast<double>(time) / k_span;
        const double phase = 2 * std::numbers::pi * clock / 7;  // right at both ends
        return std::llround(amplitude *
                            (std::sin(2 * std::numbers::pi * 3 * share + phase) - std::sin(phase)));
      };
      const std::int64_t from_time = sent + error(from, sent),
                         to_time = received + error(to, received);
      ClockConstraint constraint;
      constraint.from = from;
      constraint.to = to;
      constraint.from_time = from_time;
      constraint.to_time = to_time;
      constraint.slack = to_time - from_time;
      constraints.push_back(constraint);
    }
    for (std::uint32_t c = 0; c < clocks; ++c) {
      for (const std::int64_t time : {std::int64_t{0}, k_span}) sessions.push_back({c, time, 1000});
    }
    problem.clocks = clocks;
    problem.end = k_span;
    problem.knots = 65;
    problem.sigma = 100;
    problem.constraints = constraints;
    problem.sessions = sessions;
  }

  static constexpr std::int64_t k_span = 1'000'000'000;
  std::vector<ClockConstraint> constraints;
  std::vector<SessionConstraint> sessions;
  CausalProblem problem;
};

/// Cost of a fit, and its interior-point solver.
struct InteriorPointSolver {
  InteriorPointSolver(const CausalProblem& problem, double amplitude)
      : cost(problem), curvature(problem.clocks, problem.knots, cost.scale()), v(cost.size(), 0.0) {
    const ConstraintTable table(problem);
    std::vector<FitConstraint> all;
    for (std::size_t i = 0; i < table.rows().size(); ++i) all.push_back(table.constraint_at(i));
    cost.begin();
    cost.add(all);
    cost.set_amplitude(amplitude);
    curvature.begin();
    curvature.set_constraints(cost.constraints());
  }
  std::optional<int> run(double most_work = k_unlimited) {
    const auto take_no_more = [](const std::vector<double>&, double) {};
    return InteriorPoint(cost, curvature, take_no_more).run(v, most_work, nullptr);
  }

  FitCost cost;
  Curvature curvature;
  std::vector<double> v;
};

/// By how much Newton's method, which is exact between two changes of the constraints that are met,
/// would lower the cost from `v`, as a share of it.
double left_to_gain(InteriorPointSolver& solver) {
  const std::vector<std::uint32_t> active = solver.cost.active(solver.v);
  if (!solver.curvature.compute(solver.cost.fixed(), active)) return k_unlimited;
  const std::vector<double> gradient = solver.cost.gradient(solver.v);
  const std::vector<double> step = solver.curvature.solve(gradient);
  return std::inner_product(gradient.begin(), gradient.end(), step.begin(), 0.0) / 2 /
         (1 + solver.cost.value(solver.v));
}

class InteriorPointOf : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(InteriorPointOf, comes_to_the_minimum_in_few_steps) {
  for (const double softness : {0.1, 1.0, 30.0}) {
    const Swings swings(5, 4000, 200'000, GetParam());
    InteriorPointSolver solver(swings.problem, softness * 200'000);
    const double before = solver.cost.value(solver.v);
    const auto steps = solver.run();
    ASSERT_TRUE(steps) << softness;
    EXPECT_LE(*steps, 40) << softness;
    EXPECT_LT(solver.cost.value(solver.v), before);
    EXPECT_LT(left_to_gain(solver), 1e-7) << softness;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, InteriorPointOf, ::testing::Range<std::uint64_t>(1, 9));

TEST(InteriorPoint, does_the_same_again) {
  const Swings swings(5, 4000, 200'000, 3);
  InteriorPointSolver one(swings.problem, 200'000), other(swings.problem, 200'000);
  ASSERT_TRUE(one.run());
  ASSERT_TRUE(other.run());
  EXPECT_EQ(one.v, other.v);
}

TEST(InteriorPoint, gives_up_what_costs_too_much) {
  const Swings swings(5, 4000, 200'000, 3);
  InteriorPointSolver solver(swings.problem, 200'000);
  EXPECT_FALSE(solver.run(1));
}

TEST(InteriorPoint, where_nothing_is_violated_nothing_moves) {
  Swings swings(5, 400, 0, 3);
  InteriorPointSolver solver(swings.problem, 1000);
  ASSERT_TRUE(solver.run());
  for (const double x : solver.v) EXPECT_NEAR(x, 0, 1);
}

TEST(InteriorPoint, a_fit_of_soft_clocks_keeps_its_amplitude) {
  // With Newton's method alone such fits did not converge, and took stiffer clocks.
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const Swings swings(8, 20'000, 200'000, seed);
    const CausalFit fit = fit_causal(swings.problem, 3e6);
    EXPECT_TRUE(fit.converged) << seed;
    EXPECT_EQ(fit.amplitude, 3e6) << seed;
  }
}

}  // namespace
}  // namespace entrain::fit
