// SPDX-License-Identifier: BSD-3-Clause
#include "fit/curvature.hpp"

#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace entrain::fit {
namespace {

struct Problem {
  std::size_t clocks = 0, knots = 0;
  double bend = 1, scale = 1;
  std::vector<FitTerm> fixed;
  std::vector<FitConstraint> constraints;
  std::vector<std::uint32_t> active;

  [[nodiscard]] std::size_t size() const { return clocks * knots; }
  [[nodiscard]] Curvature curvature() const { return {clocks, knots, fixed, constraints, scale}; }
};

/// The value of a clock between two knots.
FitTerm term_at(std::size_t knots, std::size_t clock, double position) {
  const double piece = std::floor(position);
  return {static_cast<std::uint32_t>(clock * knots + static_cast<std::size_t>(piece)),
          position - piece, 1};
}

std::vector<double> random_right(RandomStream& random, std::size_t size) {
  std::vector<double> v(size);
  for (double& x : v) x = random.uniform(-1, 1);
  return v;
}

double norm_of(const std::vector<double>& v) { return std::sqrt(inner_product(v, v)); }

/// Clocks held at both ends, coupled by constraints of which most are active.
Problem random_problem(RandomStream& random, std::size_t clocks, std::size_t knots,
                       std::size_t constraints) {
  Problem p{clocks, knots, random.uniform(0.1, 100), random.uniform(0.5, 3), {}, {}, {}};
  const auto last = static_cast<double>(knots - 1) - 1e-9;
  for (std::size_t c = 0; c < clocks; ++c) {
    for (const double position : {0.0, last}) {
      p.fixed.push_back(term_at(knots, c, position));
      p.fixed.back().scale = random.uniform(0.05, 0.5);
    }
  }
  for (std::size_t i = 0; i < constraints; ++i) {
    const std::size_t from = random.below(clocks);
    const double position = random.uniform(0, last);
    const FitTerm a = term_at(knots, from, position);
    const FitTerm b = term_at(knots, (from + 1 + random.below(clocks - 1)) % clocks, position);
    p.constraints.push_back({b.at, a.at, b.share, a.share, 0});
    if (random.below(5) != 0) p.active.push_back(static_cast<std::uint32_t>(i));
  }
  return p;
}

TEST(InnerProduct, sums_products_of_any_number_of_values) {
  EXPECT_EQ(inner_product({}, {}), 0);
  EXPECT_EQ(inner_product(std::vector<double>{3}, std::vector<double>{-2}), -6);
  EXPECT_EQ(inner_product(std::vector<double>{1, 2, 3, 4, 5}, std::vector<double>{5, 4, 3, 2, 1}),
            35);
}

TEST(Curvature, both_ways_solve_the_same_equations) {
  RandomStream random(3, 3);
  for (int round = 0; round < 30; ++round) {
    const std::size_t clocks = 2 + random.below(12), knots = 3 + random.below(30);
    const Problem p = random_problem(random, clocks, knots, random.below(200));
    Curvature direct = p.curvature();
    Curvature iterative = p.curvature();
    ASSERT_TRUE(direct.compute(p.bend, p.active, SolveMethod::direct));
    ASSERT_TRUE(iterative.compute(p.bend, p.active, SolveMethod::iterative));
    std::vector<double> right(p.size());
    for (double& value : right) value = random.uniform(-1, 1);
    const std::vector<double> expected = direct.solve(right);
    std::vector<double> difference = iterative.solve(right);
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= expected[i];
    EXPECT_LT(norm_of(difference), 1e-4 * norm_of(expected)) << round;
  }
}

TEST(Curvature, a_band_of_dense_blocks_solves_the_same_equations) {
  RandomStream random(17, 0);
  for (const std::size_t clocks : {2u, 5u, 12u, 30u}) {
    Problem p = random_problem(random, clocks, 17, 60 * clocks);
    for (const bool all : {true, false}) {
      if (!all) p.active.resize(p.active.size() / 2);
      Curvature sparse = p.curvature(), band = p.curvature();
      ASSERT_TRUE(sparse.compute(p.bend, p.active, SolveMethod::direct));
      ASSERT_TRUE(band.compute(p.bend, p.active));
      const std::vector<double> right = random_right(random, p.size());
      const std::vector<double> a = sparse.solve(right), b = band.solve(right);
      for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-8 * norm_of(a));
      EXPECT_NEAR(sparse.log_determinant(), band.log_determinant(),
                  1e-8 * static_cast<double>(p.size()));
      EXPECT_LT(band.work(), 10 * sparse.work() + 1e6);
    }
  }
}

TEST(Curvature, constraints_between_knots_that_are_far_apart_are_solved_too) {
  RandomStream random(18, 0);
  Problem p = random_problem(random, 4, 17, 200);
  p.constraints.push_back({0, 2 * 17 + 9, 0.5, 0.25, 0});
  p.active.push_back(static_cast<std::uint32_t>(p.constraints.size() - 1));
  Curvature sparse = p.curvature(), automatic = p.curvature();
  ASSERT_TRUE(sparse.compute(p.bend, p.active, SolveMethod::direct));
  ASSERT_TRUE(automatic.compute(p.bend, p.active));
  const std::vector<double> right = random_right(random, p.size());
  const std::vector<double> a = sparse.solve(right), b = automatic.solve(right);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-8 * norm_of(a));
}

TEST(Curvature, constraints_that_come_later_take_part) {
  RandomStream random(19, 0);
  const Problem p = random_problem(random, 6, 9, 300);
  const std::span<const FitConstraint> all = p.constraints;
  Curvature later(p.clocks, p.knots, p.fixed, {}, p.scale), fresh = p.curvature();
  later.set_constraints(all.first(100));
  ASSERT_TRUE(later.compute(p.bend, {}));
  later.set_constraints(all);
  ASSERT_TRUE(later.compute(p.bend, p.active));
  ASSERT_TRUE(fresh.compute(p.bend, p.active));
  const std::vector<double> right = random_right(random, p.size());
  EXPECT_EQ(later.solve(right), fresh.solve(right));
}

TEST(Curvature, the_determinant_is_estimated_well_enough_to_choose_by) {
  RandomStream random(4, 4);
  for (int round = 0; round < 10; ++round) {
    const Problem p = random_problem(random, 30, 17, 600);
    Curvature direct = p.curvature();
    Curvature iterative = p.curvature();
    ASSERT_TRUE(direct.compute(p.bend, p.active, SolveMethod::direct));
    ASSERT_TRUE(iterative.compute(p.bend, p.active, SolveMethod::iterative));
    // 510 unknowns: the evidence of neighbouring amplitudes differs by some per unknown.
    EXPECT_NEAR(iterative.log_determinant(), direct.log_determinant(), 0.05 * 510) << round;
  }
}

TEST(Curvature, without_couplings_the_clocks_are_all_there_is) {
  RandomStream random(5, 5);
  const Problem p = random_problem(random, 5, 20, 0);
  Curvature direct = p.curvature(), iterative = p.curvature();
  ASSERT_TRUE(direct.compute(p.bend, p.active, SolveMethod::direct));
  ASSERT_TRUE(iterative.compute(p.bend, p.active, SolveMethod::iterative));
  EXPECT_NEAR(iterative.log_determinant(), direct.log_determinant(), 1e-6);
}

TEST(Curvature, ends_early_once_cancelled) {
  struct Impatient : Progress {
    void begin(std::string_view, std::uint64_t, std::string_view) override {}
    void advance(std::uint64_t) override {}
    [[nodiscard]] bool cancelled() const override { return ++asked > 2; }
    mutable int asked = 0;
  } impatient;
  RandomStream random(6, 6);
  const Problem p = random_problem(random, 30, 33, 600);
  Curvature iterative = p.curvature();
  ASSERT_TRUE(iterative.compute(p.bend, p.active, SolveMethod::iterative));
  iterative.stop_with(&impatient);
  static_cast<void>(iterative.solve(std::vector<double>(p.size(), 1.0)));
  EXPECT_EQ(impatient.asked, 3);
  static_cast<void>(iterative.log_determinant());
  EXPECT_LT(impatient.asked, 20);
}

TEST(Curvature, an_order_that_was_kept_solves_the_same_equations) {
  RandomStream random(7, 7);
  Problem p = random_problem(random, 8, 20, 300);
  Curvature kept = p.curvature();
  for (int round = 0; round < 20; ++round) {
    p.active.clear();
    for (std::uint32_t i = 0; i < p.constraints.size(); ++i) {
      if (random.below(3) != 0) p.active.push_back(i);
    }
    p.bend = random.uniform(0.1, 100);
    Curvature fresh = p.curvature();
    ASSERT_TRUE(kept.compute(p.bend, p.active, SolveMethod::direct));
    ASSERT_TRUE(fresh.compute(p.bend, p.active, SolveMethod::direct));
    const std::vector<double> right(p.size(), 1.0), expected = fresh.solve(right);
    std::vector<double> difference = kept.solve(right);
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= expected[i];
    EXPECT_LT(norm_of(difference), 1e-6 * norm_of(expected)) << round;
    EXPECT_NEAR(kept.log_determinant(), fresh.log_determinant(), 1e-6);
  }
}

TEST(Curvature, a_matrix_that_is_not_definite_is_refused) {
  Curvature iterative(1, 5, {}, {}, 1);  // offset and rate of the clock are free
  EXPECT_FALSE(iterative.compute(0, {}, SolveMethod::iterative));
}

}  // namespace
}  // namespace entrain::fit
