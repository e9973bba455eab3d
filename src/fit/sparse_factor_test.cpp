// SPDX-License-Identifier: BSD-3-Clause
#include "fit/curvature.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>

#include "base/random.hpp"

namespace entrain::fit {
namespace {

using AmdFactor = SparseFactor<Eigen::AMDOrdering<int>>;
using Matrix = AmdFactor::Matrix;
using Vector = AmdFactor::Vector;
using Entry = Eigen::Triplet<double>;

/// The lower half of a positive definite matrix: every diagonal exceeds the rest of its row by 1.
Matrix lower_half(int size, const std::vector<Entry>& beside) {
  std::vector<Entry> entries = beside;
  for (int i = 0; i < size; ++i) entries.emplace_back(i, i, 1);
  for (const Entry& e : beside) {
    entries.emplace_back(e.row(), e.row(), std::abs(e.value()));
    entries.emplace_back(e.col(), e.col(), std::abs(e.value()));
  }
  Matrix lower(size, size);
  lower.setFromTriplets(entries.begin(), entries.end());
  return lower;
}

Matrix random_lower_half(RandomStream& random, int size, int links) {
  std::vector<Entry> beside;
  for (int k = 0; k < links && size > 1; ++k) {
    const auto row = 1 + static_cast<int>(random.below(static_cast<std::uint64_t>(size) - 1));
    const auto column = static_cast<int>(random.below(static_cast<std::uint64_t>(row)));
    beside.emplace_back(row, column, random.uniform(-3, 3));
  }
  return lower_half(size, beside);
}

/// Clocks with so many knots, of which the neighbours in time and in space are linked.
Matrix grid(RandomStream& random, int clocks, int knots) {
  std::vector<Entry> beside;
  for (int clock = 0; clock < clocks; ++clock) {
    for (int knot = 0; knot < knots; ++knot) {
      const int at = clock * knots + knot;
      for (int back = 1; back <= 2 && back <= knot; ++back) {
        beside.emplace_back(at, at - back, random.uniform(-3, 3));
      }
      if (clock > 0) beside.emplace_back(at, at - knots, random.uniform(-3, 3));
    }
  }
  return lower_half(clocks * knots, beside);
}

Vector random_vector(RandomStream& random, Eigen::Index size) {
  Vector v(size);
  for (double& one : v) one = random.uniform(-1, 1);
  return v;
}

/// Solutions and determinants are those of Eigen's dense method.
void expect_right(const AmdFactor& factor, const Matrix& lower, RandomStream& random) {
  const Eigen::MatrixXd dense = Eigen::MatrixXd(lower).selfadjointView<Eigen::Lower>();
  const Eigen::LLT<Eigen::MatrixXd> llt(dense);
  const Vector solution = random_vector(random, lower.rows());
  EXPECT_LE((factor.solve(dense * solution) - solution).norm(), 1e-10 * (1 + solution.norm()));
  const double expected = 2 * Eigen::MatrixXd(llt.matrixL()).diagonal().array().log().sum();
  EXPECT_NEAR(factor.log_determinant(), expected, 1e-10 * (1 + std::abs(expected)));
}

void expect_solved(const Matrix& lower, RandomStream& random) {
  AmdFactor factor;
  factor.analyse(lower);
  ASSERT_TRUE(factor.factorise(lower));
  expect_right(factor, lower, random);
}

TEST(SparseFactor, random_matrices_are_solved_as_by_a_dense_method) {
  RandomStream random(1, 0);
  for (int round = 0; round < 300; ++round) {
    const auto size = static_cast<int>(random.below(90));
    const int links = static_cast<int>(random.below(6)) * size / 2;
    expect_solved(random_lower_half(random, size, links), random);
  }
}

TEST(SparseFactor, matrices_that_fill_up_are_solved) {
  RandomStream random(2, 0);
  for (const int links : {20'000, 900}) {  // dense; sparse with a dense end
    expect_solved(random_lower_half(random, 301, links), random);
  }
}

TEST(SparseFactor, clocks_and_their_knots) {
  RandomStream random(3, 0);
  for (const auto& [clocks, knots] : std::vector<std::pair<int, int>>{{1, 200}, {9, 40}, {40, 7}}) {
    expect_solved(grid(random, clocks, knots), random);
  }
}

TEST(SparseFactor, parts_without_a_link_are_solved_side_by_side) {
  RandomStream random(4, 0);
  expect_solved(lower_half(7, {{1, 0, 2.0}, {6, 4, -1.0}}), random);
}

TEST(SparseFactor, other_numbers_and_other_patterns_may_follow) {
  RandomStream random(5, 0);
  AmdFactor factor;
  for (int round = 0; round < 20; ++round) {
    Matrix lower = random_lower_half(random, 1 + static_cast<int>(random.below(60)), 100);
    factor.analyse(lower);
    for (int again = 0; again < 3; ++again) {
      ASSERT_TRUE(factor.factorise(lower));
      expect_right(factor, lower, random);
      lower *= random.uniform(0.5, 2);
    }
  }
}

TEST(SparseFactor, entries_that_are_zero_are_part_of_the_pattern) {
  RandomStream random(6, 0);
  Matrix lower = lower_half(5, {{4, 0, 0.0}, {3, 1, 0.0}});
  AmdFactor factor;
  factor.analyse(lower);
  ASSERT_TRUE(factor.factorise(lower));
  lower.coeffRef(4, 0) = 0.5;
  ASSERT_TRUE(factor.factorise(lower));
  expect_right(factor, lower, random);
}

TEST(SparseFactor, a_matrix_without_unknowns_has_determinant_one) {
  AmdFactor factor;
  factor.analyse(Matrix(0, 0));
  EXPECT_TRUE(factor.factorise(Matrix(0, 0)));
  EXPECT_EQ(factor.solve(Vector(0)).size(), 0);
  EXPECT_EQ(factor.log_determinant(), 0);
}

TEST(SparseFactor, matrices_that_are_not_positive_definite_are_reported) {
  RandomStream random(7, 0);
  Matrix lower = random_lower_half(random, 40, 80);
  AmdFactor factor;
  factor.analyse(lower);
  for (const double wrong : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN()}) {
    Matrix other = lower;
    other.coeffRef(17, 17) = wrong;
    EXPECT_FALSE(factor.factorise(other)) << wrong;
  }
  ASSERT_TRUE(factor.factorise(lower));  // what went before is forgotten
  expect_right(factor, lower, random);
}

/// A chain has one number below every diagonal but the last; a dense matrix has all of them.
TEST(SparseFactor, work_is_the_sum_of_the_squares_of_the_columns) {
  std::vector<Entry> chain, all;
  for (int i = 1; i < 10; ++i) chain.emplace_back(i, i - 1, 1);
  for (int i = 1; i < 10; ++i) {
    for (int j = 0; j < i; ++j) all.emplace_back(i, j, 1);
  }
  AmdFactor factor;
  factor.analyse(lower_half(10, chain));
  EXPECT_EQ(factor.work(), 9);
  factor.analyse(lower_half(10, all));
  EXPECT_EQ(factor.work(), 285);
}

TEST(SparseFactor, is_the_same_to_the_bit_each_time) {
  RandomStream random(8, 0);
  const Matrix lower = grid(random, 12, 30);
  const Vector right = random_vector(random, lower.rows());
  AmdFactor one, other;
  one.analyse(lower);
  other.analyse(random_lower_half(random, 50, 200));
  other.analyse(lower);
  ASSERT_TRUE(one.factorise(lower) && other.factorise(lower) && other.factorise(lower));
  EXPECT_EQ(one.log_determinant(), other.log_determinant());
  EXPECT_EQ((one.solve(right) - other.solve(right)).norm(), 0);
}

}  // namespace
}  // namespace entrain::fit
