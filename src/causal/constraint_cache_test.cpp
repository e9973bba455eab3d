// SPDX-License-Identifier: BSD-3-Clause
#include "causal/constraint_cache.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace entrain::causal {
namespace {

constexpr std::size_t k_unknowns = 40;

/// Constraints between any two pieces; some shares lie outside of their piece, as at the ends of a
/// run.
std::vector<FitConstraint> random_constraints(RandomStream& random, std::size_t count) {
  std::vector<FitConstraint> constraints;
  for (std::size_t i = 0; i < count; ++i) {
    constraints.push_back({.to = static_cast<std::uint32_t>(random.below(k_unknowns - 1)),
                           .from = static_cast<std::uint32_t>(random.below(k_unknowns - 1)),
                           .to_share = random.uniform(-0.2, 1.2),
                           .from_share = random.uniform(0, 1),
                           .bound = random.uniform(-10, 1000)});
  }
  return constraints;
}

std::vector<double> random_vector(RandomStream& random, double size) {
  std::vector<double> v(k_unknowns);
  for (double& x : v) x = random.uniform(-size, size);
  return v;
}

void expect_all(std::span<const FitConstraint> constraints, std::span<const std::uint32_t> near,
                std::span<const double> v) {
  EXPECT_TRUE(std::is_sorted(near.begin(), near.end()));
  for (std::uint32_t i = 0; i < constraints.size(); ++i) {
    if (constraints[i].excess(v) > 0) {
      EXPECT_TRUE(std::binary_search(near.begin(), near.end(), i)) << i;
    }
  }
}

TEST(ConstraintCache, none_that_counts_is_missed_wherever_the_unknowns_go) {
  RandomStream random(1, 1);
  const std::vector<FitConstraint> constraints = random_constraints(random, 2'000);
  ConstraintCache near(1);
  near.reset(constraints);
  std::vector<double> v(k_unknowns, 0.0);
  for (int round = 0; round < 200; ++round) {
    const double size = std::pow(10.0, random.uniform(-3, 3));
    const std::vector<double> step = random_vector(random, size);
    const std::vector<std::uint32_t> along = [&] {
      const auto found = near.along(v, step);
      return std::vector<std::uint32_t>(found.begin(), found.end());
    }();
    for (const double share : {0.0, 0.3, 1.0}) {
      std::vector<double> there = v;
      for (std::size_t i = 0; i < there.size(); ++i) there[i] += share * step[i];
      expect_all(constraints, along, there);
    }
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += step[i];
    near.expect(v, size);
    expect_all(constraints, near.at(v), v);
  }
}

TEST(ConstraintCache, where_unknowns_hardly_move_most_constraints_are_left_out) {
  RandomStream random(2, 2);
  const std::vector<FitConstraint> constraints = random_constraints(random, 2'000);
  ConstraintCache near(1);
  near.reset(constraints);
  const std::vector<double> v(k_unknowns, 0.0), step = random_vector(random, 1);
  EXPECT_LT(near.along(v, step).size(), 200u);
}

TEST(ConstraintCache, threads_find_the_same) {
  RandomStream random(3, 3);
  const std::vector<FitConstraint> constraints = random_constraints(random, 300'000);
  ConstraintCache one(1), three(3);
  one.reset(constraints);
  three.reset(constraints);
  for (const double size : {500.0, 1.0, 2.0}) {
    const std::vector<double> v = random_vector(random, size);
    const auto a = one.at(v), b = three.at(v);
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }
}

}  // namespace
}  // namespace entrain::causal
