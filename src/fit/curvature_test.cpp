// SPDX-License-Identifier: BSD-3-Clause
#include "fit/curvature.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
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
  FitEntries terms{};
  std::vector<FitConstraint> constraints{};
  std::vector<std::uint32_t> active{};

  [[nodiscard]] std::size_t size() const { return clocks * knots; }
  /// Bends and terms of the clocks.
  [[nodiscard]] FitMatrix fixed() const {
    FitEntries entries = terms;
    for (std::uint32_t i = 0; i < size(); ++i) {
      if (i % knots + 2 >= knots) continue;
      const std::array<FitConstraint::Weight, 3> row{{{i, 1}, {i + 1, -2}, {i + 2, 1}}};
      add_square(row, bend, entries);
    }
    const auto unknowns = static_cast<Eigen::Index>(size());
    FitMatrix matrix(unknowns, unknowns);
    matrix.setFromTriplets(entries.begin(), entries.end());
    return matrix;
  }
};

/// The curvature of a problem.
struct Solver : Curvature {
  explicit Solver(const Problem& p) : Curvature(p.clocks, p.knots, p.scale) {
    set_constraints(p.constraints);
  }
};

struct Place {
  std::uint32_t at = 0;
  double share = 0;
};

/// A place of a clock between two knots.
Place place_at(std::size_t knots, std::size_t clock, double position) {
  const double piece = std::floor(position);
  return {static_cast<std::uint32_t>(clock * knots + static_cast<std::size_t>(piece)),
          position - piece};
}

std::vector<double> random_right(RandomStream& random, std::size_t size) {
  std::vector<double> v(size);
  for (double& x : v) x = random.uniform(-1, 1);
  return v;
}

double norm_of(const std::vector<double>& v) {
  return std::sqrt(std::inner_product(v.begin(), v.end(), v.begin(), 0.0));
}

/// Clocks held at both ends, coupled by constraints of which most are active.
Problem random_problem(RandomStream& random, std::size_t clocks, std::size_t knots,
                       std::size_t constraints) {
  Problem p{clocks, knots, random.uniform(0.1, 100), random.uniform(0.5, 3), {}, {}, {}};
  const auto last = static_cast<double>(knots - 1) - 1e-9;
  for (std::size_t c = 0; c < clocks; ++c) {
    for (const double position : {0.0, last}) {
      const auto [at, share] = place_at(knots, c, position);
      const double scale = random.uniform(0.05, 0.5);
      const std::array row{FitConstraint::Weight{at, 1 - share},
                           FitConstraint::Weight{at + 1, share}};
      add_square(row, scale * scale, p.terms);
    }
  }
  for (std::size_t i = 0; i < constraints; ++i) {
    const std::size_t from = random.below(clocks);
    const double position = random.uniform(0, last);
    const Place a = place_at(knots, from, position);
    const Place b = place_at(knots, (from + 1 + random.below(clocks - 1)) % clocks, position);
    p.constraints.push_back({b.at, a.at, b.share, a.share, 0});
    if (random.below(5) != 0) p.active.push_back(static_cast<std::uint32_t>(i));
  }
  return p;
}

TEST(Curvature, both_ways_solve_the_same_equations) {
  RandomStream random(3, 3);
  for (int round = 0; round < 30; ++round) {
    const std::size_t clocks = 2 + random.below(12), knots = 3 + random.below(30);
    const Problem p = random_problem(random, clocks, knots, random.below(200));
    Solver direct(p);
    Solver iterative(p);
    ASSERT_TRUE(direct.compute(p.fixed(), p.active, SolveMethod::direct));
    ASSERT_TRUE(iterative.compute(p.fixed(), p.active, SolveMethod::iterative));
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
      Solver sparse(p), band(p);
      ASSERT_TRUE(sparse.compute(p.fixed(), p.active, SolveMethod::direct));
      ASSERT_TRUE(band.compute(p.fixed(), p.active));
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
  Solver sparse(p), automatic(p);
  ASSERT_TRUE(sparse.compute(p.fixed(), p.active, SolveMethod::direct));
  ASSERT_TRUE(automatic.compute(p.fixed(), p.active));
  const std::vector<double> right = random_right(random, p.size());
  const std::vector<double> a = sparse.solve(right), b = automatic.solve(right);
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-8 * norm_of(a));
}

TEST(Curvature, constraints_that_come_later_take_part) {
  RandomStream random(19, 0);
  const Problem p = random_problem(random, 6, 9, 300);
  const std::span<const FitConstraint> all = p.constraints;
  Curvature later(p.clocks, p.knots, p.scale);
  Solver fresh(p);
  later.set_constraints(all.first(100));
  ASSERT_TRUE(later.compute(p.fixed(), {}));
  later.set_constraints(all);
  ASSERT_TRUE(later.compute(p.fixed(), p.active));
  ASSERT_TRUE(fresh.compute(p.fixed(), p.active));
  const std::vector<double> right = random_right(random, p.size());
  EXPECT_EQ(later.solve(right), fresh.solve(right));
}

TEST(Curvature, the_determinant_is_known_of_a_whole_factorisation_only) {
  RandomStream random(5, 5);
  const Problem p = random_problem(random, 5, 20, 0);
  Solver direct(p), iterative(p);
  ASSERT_TRUE(direct.compute(p.fixed(), p.active, SolveMethod::direct));
  ASSERT_TRUE(iterative.compute(p.fixed(), p.active, SolveMethod::iterative));
  EXPECT_TRUE(std::isfinite(direct.log_determinant()));
  EXPECT_TRUE(std::isinf(iterative.log_determinant()));
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
  Solver iterative(p);
  ASSERT_TRUE(iterative.compute(p.fixed(), p.active, SolveMethod::iterative));
  iterative.stop_with(&impatient);
  static_cast<void>(iterative.solve(std::vector<double>(p.size(), 1.0)));
  EXPECT_EQ(impatient.asked, 3);
}

TEST(Curvature, an_order_that_was_kept_solves_the_same_equations) {
  RandomStream random(7, 7);
  Problem p = random_problem(random, 8, 20, 300);
  Solver kept(p);
  for (int round = 0; round < 20; ++round) {
    p.active.clear();
    for (std::uint32_t i = 0; i < p.constraints.size(); ++i) {
      if (random.below(3) != 0) p.active.push_back(i);
    }
    p.bend = random.uniform(0.1, 100);
    Solver fresh(p);
    ASSERT_TRUE(kept.compute(p.fixed(), p.active, SolveMethod::direct));
    ASSERT_TRUE(fresh.compute(p.fixed(), p.active, SolveMethod::direct));
    const std::vector<double> right(p.size(), 1.0), expected = fresh.solve(right);
    std::vector<double> difference = kept.solve(right);
    for (std::size_t i = 0; i < difference.size(); ++i) difference[i] -= expected[i];
    EXPECT_LT(norm_of(difference), 1e-6 * norm_of(expected)) << round;
    EXPECT_NEAR(kept.log_determinant(), fresh.log_determinant(), 1e-6);
  }
}

TEST(Curvature, a_matrix_that_is_not_definite_is_refused) {
  const Problem free{.clocks = 1, .knots = 5, .bend = 0};  // offset and rate of the clock
  Solver iterative(free);
  EXPECT_FALSE(iterative.compute(free.fixed(), {}, SolveMethod::iterative));
}

/// Clocks on a grid of so many by so many, of which neighbours are coupled between all knots.
Problem grid_of(std::uint32_t wide, std::uint32_t knots) {
  Problem p{.clocks = std::size_t{wide} * wide, .knots = knots};
  for (std::uint32_t clock = 0; clock < wide * wide; ++clock) {
    for (std::uint32_t k = 0; k + 1 < knots; ++k) {
      const std::uint32_t at = clock * knots + k;
      if (clock % wide != 0) p.constraints.push_back({at, at - knots, 0.5, 0.5, 0});
      if (clock >= wide) p.constraints.push_back({at, at - wide * knots, 0.5, 0.5, 0});
    }
  }
  return p;
}

TEST(Curvature, too_much_work_is_reported_before_anything_is_factorised) {
  EXPECT_TRUE(Solver(grid_of(32, 33)).is_clearly_costly());
  EXPECT_FALSE(Curvature(32 * 32, 33, 1).is_clearly_costly());
  EXPECT_FALSE(Solver(grid_of(7, 33)).is_clearly_costly());
}

TEST(Curvature, work_in_vain_is_avoided_by_conjugate_gradients) {
  Problem p = grid_of(32, 33);
  for (std::uint32_t i = 0; i < p.size(); ++i) {
    const std::array row{FitConstraint::Weight{i, 1}};
    add_square(row, 1, p.terms);
  }
  for (std::uint32_t i = 0; i < p.constraints.size(); ++i) p.active.push_back(i);
  Solver automatic(p), iterative(p);
  ASSERT_TRUE(automatic.compute(p.fixed(), p.active));
  ASSERT_TRUE(iterative.compute(p.fixed(), p.active, SolveMethod::iterative));
  EXPECT_TRUE(automatic.is_iterative());
  const std::vector<double> right(p.size(), 1.0);
  EXPECT_EQ(automatic.solve(right), iterative.solve(right));
}

/// True if couplings between every clock and the next `neighbours` ones make a band worthwhile.
bool takes_band(std::uint32_t clocks, std::uint32_t neighbours, std::uint32_t knots_apart = 0) {
  constexpr std::uint32_t k_knots = 33;
  Problem p{.clocks = clocks, .knots = k_knots};
  for (std::uint32_t c = 0; c < clocks; ++c) {
    for (std::uint32_t n = 1; n <= neighbours; ++n)
      p.constraints.push_back({c * k_knots + 5, (c + n) % clocks * k_knots + 5, 0, 0, 0});
  }
  p.constraints.push_back({0, k_knots + knots_apart, 0, 0, 0});
  for (std::uint32_t i = 0; i < p.size(); ++i) {
    const std::array row{FitConstraint::Weight{i, 1}};
    add_square(row, 1, p.terms);
  }
  Solver solver(p);
  EXPECT_TRUE(solver.compute(p.fixed(), {}));
  return solver.work() == Curvature::work_in_band(clocks, k_knots);
}

TEST(Curvature, a_band_is_used_where_most_clocks_meet_at_about_the_same_time) {
  EXPECT_TRUE(takes_band(3, 0));
  EXPECT_FALSE(takes_band(40, 1));
  EXPECT_TRUE(takes_band(40, 15));
  EXPECT_TRUE(takes_band(40, 15, 1));
  EXPECT_FALSE(takes_band(40, 15, 2));
  EXPECT_FALSE(takes_band(400, 150));
}

}  // namespace
}  // namespace entrain::fit
