// SPDX-License-Identifier: BSD-3-Clause
#include "causal/near_limits.hpp"

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

/// Limits between any two pieces; some shares lie outside of their piece, as at the ends of a run.
std::vector<FitLimit> random_limits(RandomStream& random, std::size_t count) {
  std::vector<FitLimit> limits;
  for (std::size_t i = 0; i < count; ++i) {
    limits.push_back({.to = static_cast<std::uint32_t>(random.below(k_unknowns - 1)),
                      .from = static_cast<std::uint32_t>(random.below(k_unknowns - 1)),
                      .to_share = random.uniform(-0.2, 1.2),
                      .from_share = random.uniform(0, 1),
                      .limit = random.uniform(-10, 1000)});
  }
  return limits;
}

std::vector<double> random_vector(RandomStream& random, double size) {
  std::vector<double> v(k_unknowns);
  for (double& x : v) x = random.uniform(-size, size);
  return v;
}

void expect_all(std::span<const FitLimit> limits, std::span<const std::uint32_t> near,
                std::span<const double> v) {
  EXPECT_TRUE(std::is_sorted(near.begin(), near.end()));
  for (std::uint32_t i = 0; i < limits.size(); ++i) {
    if (limits[i].over(v) > 0) {
      EXPECT_TRUE(std::binary_search(near.begin(), near.end(), i)) << i;
    }
  }
}

TEST(NearLimits, none_that_counts_is_missed_wherever_the_unknowns_go) {
  RandomStream random(1, 1);
  const std::vector<FitLimit> limits = random_limits(random, 2'000);
  NearLimits near(1);
  near.look_among(limits);
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
      expect_all(limits, along, there);
    }
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += step[i];
    near.expect(v, size);
    expect_all(limits, near.at(v), v);
  }
}

TEST(NearLimits, where_unknowns_hardly_move_most_limits_are_left_out) {
  RandomStream random(2, 2);
  const std::vector<FitLimit> limits = random_limits(random, 2'000);
  NearLimits near(1);
  near.look_among(limits);
  const std::vector<double> v(k_unknowns, 0.0), step = random_vector(random, 1);
  EXPECT_LT(near.along(v, step).size(), 200u);
}

TEST(NearLimits, threads_find_the_same) {
  RandomStream random(3, 3);
  const std::vector<FitLimit> limits = random_limits(random, 300'000);
  NearLimits one(1), three(3);
  one.look_among(limits);
  three.look_among(limits);
  for (const double size : {500.0, 1.0, 2.0}) {
    const std::vector<double> v = random_vector(random, size);
    const auto a = one.at(v), b = three.at(v);
    EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  }
}

}  // namespace
}  // namespace entrain::causal
