// SPDX-License-Identifier: BSD-3-Clause
#include "causal/curvature.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace entrain::causal {
namespace {

struct Problem {
  std::size_t clocks = 0, knots = 0;
  double bend = 1;
  std::vector<CausalTerm> fixed, bounds;
  std::vector<bool> active;

  [[nodiscard]] Eigen::Index size() const { return static_cast<Eigen::Index>(clocks * knots); }
};

void append(CausalRow& row, std::size_t knots, std::size_t clock, double position, double weight) {
  const double piece = std::floor(position);
  const auto index = static_cast<Eigen::Index>(clock * knots + static_cast<std::size_t>(piece));
  row.add(index, weight * (1 - (position - piece)));
  row.add(index + 1, weight * (position - piece));
}

/// Clocks held at both ends, coupled by bounds of which most are active.
Problem random_problem(RandomStream& random, std::size_t clocks, std::size_t knots,
                       std::size_t bounds) {
  Problem p{clocks, knots, random.uniform(0.1, 100), {}, {}, {}};
  const auto last = static_cast<double>(knots - 1) - 1e-9;
  for (std::size_t c = 0; c < clocks; ++c) {
    for (const double position : {0.0, last}) {
      CausalTerm term;
      append(term.row, knots, c, position, 1);
      term.scale = random.uniform(0.05, 0.5);
      p.fixed.push_back(term);
    }
  }
  for (std::size_t i = 0; i < bounds; ++i) {
    const std::size_t from = random.below(clocks);
    const double position = random.uniform(0, last);
    CausalTerm term;
    append(term.row, knots, from, position, -1);
    append(term.row, knots, (from + 1 + random.below(clocks - 1)) % clocks, position, 1);
    term.scale = random.uniform(0.5, 3);
    p.bounds.push_back(term);
    p.active.push_back(random.below(5) != 0);
  }
  return p;
}

TEST(Curvature, both_ways_solve_the_same_equations) {
  RandomStream random(3, 3);
  for (int round = 0; round < 30; ++round) {
    const std::size_t clocks = 2 + random.below(12), knots = 3 + random.below(30);
    const Problem p = random_problem(random, clocks, knots, random.below(200));
    Curvature direct(p.clocks, p.knots, p.fixed, p.bounds);
    Curvature iterative(p.clocks, p.knots, p.fixed, p.bounds);
    ASSERT_TRUE(direct.compute(p.bend, p.active, Curvature::Way::direct));
    ASSERT_TRUE(iterative.compute(p.bend, p.active, Curvature::Way::iterative));
    Eigen::VectorXd right(p.size());
    for (Eigen::Index i = 0; i < right.size(); ++i) right[i] = random.uniform(-1, 1);
    const Eigen::VectorXd expected = direct.solve(right);
    EXPECT_LT((iterative.solve(right) - expected).norm(), 1e-4 * expected.norm()) << round;
  }
}

TEST(Curvature, the_determinant_is_estimated_well_enough_to_choose_by) {
  RandomStream random(4, 4);
  for (int round = 0; round < 10; ++round) {
    const Problem p = random_problem(random, 30, 17, 600);
    Curvature direct(p.clocks, p.knots, p.fixed, p.bounds);
    Curvature iterative(p.clocks, p.knots, p.fixed, p.bounds);
    ASSERT_TRUE(direct.compute(p.bend, p.active, Curvature::Way::direct));
    ASSERT_TRUE(iterative.compute(p.bend, p.active, Curvature::Way::iterative));
    // Of 510 unknowns: the evidence of neighbouring amplitudes differs by some per unknown.
    EXPECT_NEAR(iterative.log_determinant(), direct.log_determinant(), 0.05 * 510) << round;
  }
}

TEST(Curvature, without_couplings_the_clocks_are_all_there_is) {
  RandomStream random(5, 5);
  const Problem p = random_problem(random, 5, 20, 0);
  Curvature direct(5, 20, p.fixed, p.bounds), iterative(5, 20, p.fixed, p.bounds);
  ASSERT_TRUE(direct.compute(p.bend, p.active, Curvature::Way::direct));
  ASSERT_TRUE(iterative.compute(p.bend, p.active, Curvature::Way::iterative));
  EXPECT_NEAR(iterative.log_determinant(), direct.log_determinant(), 1e-6);
}

TEST(Curvature, a_matrix_that_tells_too_little_is_refused) {
  const std::vector<CausalTerm> none;
  Curvature iterative(1, 5, none, none);  // offset and rate of the clock are free
  EXPECT_FALSE(iterative.compute(0, {}, Curvature::Way::iterative));
}

}  // namespace
}  // namespace entrain::causal
