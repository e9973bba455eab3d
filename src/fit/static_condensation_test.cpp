// SPDX-License-Identifier: BSD-3-Clause
#include "fit/static_condensation.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <Eigen/Cholesky>

#include "base/random.hpp"

namespace entrain::fit {
namespace {

using Dense = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// ClockMatrices as they are in a fit: bends, and something that holds every knot a little.
struct ClockMatrices {
  std::size_t clocks = 0, knots = 0;
  StaticCondensation::Diagonals diagonals;
  Dense dense;  ///< the same matrix
};

ClockMatrices random_clocks(RandomStream& random, std::size_t clocks, std::size_t knots) {
  const std::size_t size = clocks * knots;
  ClockMatrices all{clocks, knots, {}, Dense::Zero(static_cast<int>(size), static_cast<int>(size))};
  for (std::size_t i = 0; i < size; ++i) {
    const auto at = static_cast<Eigen::Index>(i);
    all.dense(at, at) += random.uniform(0.01, 1);
    if (i % knots < 2) continue;
    const double bend = random.uniform(0.1, 10);
    const Eigen::Vector3d second(1, -2, 1);
    all.dense.block<3, 3>(at - 2, at - 2) += bend * second * second.transpose();
  }
  const auto entry = [&](std::size_t i, std::size_t back) {
    return i % knots < back
               ? 0
               : all.dense(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(i - back));
  };
  for (std::size_t i = 0; i < size; ++i) {
    all.diagonals.middle.push_back(entry(i, 0));
    all.diagonals.sub1.push_back(entry(i, 1));
    all.diagonals.sub2.push_back(entry(i, 2));
  }
  return all;
}

/// Pairs of neighbouring knots.
std::vector<std::uint8_t> random_touched(RandomStream& random, const ClockMatrices& all,
                                         std::size_t pairs) {
  std::vector<std::uint8_t> touched(all.clocks * all.knots, 0);
  for (std::size_t n = 0; n < pairs; ++n) {
    const std::size_t at = random.below(all.clocks) * all.knots + random.below(all.knots - 1);
    touched[at] = touched[at + 1] = 1;
  }
  return touched;
}

/// Solves for the interface by a dense matrix, and compares with the whole.
void expect_solved(StaticCondensation& chains, const ClockMatrices& all,
                   const std::vector<std::uint8_t>& touched, RandomStream& random) {
  chains.keep(touched);
  ASSERT_TRUE(chains.eliminate());
  const auto interface_count = static_cast<Eigen::Index>(chains.interface_count());
  Dense joints = Dense::Zero(interface_count, interface_count);
  chains.for_schur_entries([&](std::size_t row, std::size_t column, double value) {
    ASSERT_GE(row, column);
    joints(static_cast<Eigen::Index>(row), static_cast<Eigen::Index>(column)) += value;
  });
  const Eigen::LLT<Dense> joints_factor(joints.selfadjointView<Eigen::Lower>()), whole(all.dense);
  const auto log_determinant = [](const Eigen::LLT<Dense>& factor) {
    return 2 * Dense(factor.matrixL()).diagonal().array().log().sum();
  };
  EXPECT_NEAR(chains.log_determinant() + log_determinant(joints_factor), log_determinant(whole),
              1e-8);

  Vector right(all.dense.rows());
  for (double& x : right) x = random.uniform(-1, 1);
  std::vector<double> v(right.data(), right.data() + right.size());
  const std::vector<double> of_joints = chains.condense(v);
  const Vector solution =
      joints_factor.solve(Eigen::Map<const Vector>(of_joints.data(), interface_count));
  chains.expand({solution.data(), chains.interface_count()}, v);
  const Vector expected = whole.solve(right);
  ASSERT_EQ(v.size(), static_cast<std::size_t>(expected.size()));
  for (std::size_t i = 0; i < v.size(); ++i)
    EXPECT_NEAR(v[i], expected[static_cast<Eigen::Index>(i)], 1e-8 * (1 + expected.norm())) << i;
}

void expect_solved(const ClockMatrices& all, const std::vector<std::uint8_t>& touched,
                   RandomStream& random) {
  StaticCondensation chains;
  chains.set(all.knots, all.diagonals);
  expect_solved(chains, all, touched, random);
}

TEST(StaticCondensation, the_interface_has_the_solution_of_the_whole) {
  RandomStream random(21, 0);
  for (int round = 0; round < 60; ++round) {
    const ClockMatrices all = random_clocks(random, 1 + random.below(4), 3 + random.below(20));
    expect_solved(all, random_touched(random, all, random.below(12)), random);
  }
}

TEST(StaticCondensation, no_knot_or_every_knot_may_be_in_the_interface) {
  RandomStream random(22, 0);
  const ClockMatrices all = random_clocks(random, 3, 7);
  expect_solved(all, std::vector<std::uint8_t>(21, 0), random);
  expect_solved(all, std::vector<std::uint8_t>(21, 1), random);
}

TEST(StaticCondensation, the_interface_is_the_knots_that_are_touched) {
  RandomStream random(23, 0);
  const ClockMatrices all = random_clocks(random, 2, 33);
  std::vector<std::uint8_t> touched(66, 0);
  for (const std::size_t i : {10u, 11u, 20u, 21u, 33u + 5, 33u + 6}) touched[i] = 1;
  StaticCondensation chains;
  chains.set(33, all.diagonals);
  chains.keep(touched);
  EXPECT_EQ(chains.interface_count(), 6);
  EXPECT_EQ(chains.interface_number(21), 3);
  EXPECT_EQ(chains.interface_number(33 + 5), 4);
  expect_solved(all, touched, random);
}

TEST(StaticCondensation, what_was_known_of_a_chain_holds_until_the_matrix_changes) {
  RandomStream random(24, 0);
  StaticCondensation chains;
  for (int matrix = 0; matrix < 5; ++matrix) {
    const ClockMatrices all = random_clocks(random, 3, 20);
    chains.set(all.knots, all.diagonals);
    std::vector<std::uint8_t> touched(60, 0);
    for (int step = 0; step < 12; ++step) {  // pairs of knots come, and all go now and then
      if (step % 5 == 4) touched.assign(60, 0);
      const std::size_t at = random.below(3) * 20 + random.below(19);
      touched[at] = touched[at + 1] = 1;
      expect_solved(chains, all, touched, random);
    }
  }
}

TEST(StaticCondensation, a_matrix_that_is_not_definite_is_refused) {
  StaticCondensation chains;
  chains.set(
      5, {std::vector<double>(5, 0.0), std::vector<double>(5, 0.0), std::vector<double>(5, 0.0)});
  chains.keep(std::vector<std::uint8_t>(5, 0));
  EXPECT_FALSE(chains.eliminate());
}

}  // namespace
}  // namespace entrain::fit
