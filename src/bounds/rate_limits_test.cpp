// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/rate_limits.hpp"

#include <cmath>
#include <numbers>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace entrain::bounds {
namespace {

constexpr std::int64_t k_life = 10'000'000;

ConstraintGrid grid(std::span<const ClockConstraint> constraints, std::uint32_t windows) {
  ConstraintGrid problem;
  problem.clocks = 2;
  problem.windows = windows;
  problem.width = k_life / windows;
  problem.constraints = constraints;
  return problem;
}

RateLimits wide(std::int64_t wander_ppb) {
  return {wander_ppb, {k_most_rate_ppb, k_most_rate_ppb}};
}

const std::vector<Lifetime> k_lives{{0, k_life}, {0, k_life}};

/// Both directions at many times of a clock whose error is a line of 40 ppm and a wave.
std::vector<ClockConstraint> contacts(double wave_ppm, double least, std::uint64_t seed,
                                      std::int64_t begin, std::int64_t end) {
  RandomStream random(seed, 3);
  std::vector<ClockConstraint> constraints;
  for (std::int64_t time = begin; time < end; time += 25'000) {
    const double wave = k_life / (2 * std::numbers::pi);
    const double error = 40e-6 * static_cast<double>(time) +
                         wave_ppm * 1e-6 * wave * std::sin(static_cast<double>(time) / wave);
    const auto slack = [&](double signed_error) {
      return static_cast<std::int64_t>(std::ceil(signed_error + random.uniform(least, least + 20)));
    };
    constraints.push_back({0, 1, time, time, slack(error)});
    constraints.push_back({1, 0, time, time, slack(-error)});
  }
  return constraints;
}

TEST(NarrowLimits, the_rate_of_a_straight_clock_is_found) {
  const auto constraints = contacts(0, 0, 1, 0, k_life);
  const Narrowed found =
      narrow_limits(DifferenceConstraints(grid(constraints, 200)), k_lives, wide(0), true);
  ASSERT_FALSE(found.contradiction);
  EXPECT_GE(found.limits.of(1), 40'000);  // 40 ppm off its line
  EXPECT_LE(found.limits.of(1), 50'000);
  EXPECT_LE(found.intervals.of(1, 100).upper - found.intervals.of(1, 100).lower, 25);
}

TEST(NarrowLimits, limits_hold_for_clocks_that_wander) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto constraints = contacts(10, 1, seed, 0, k_life);
    const Narrowed found =
        narrow_limits(DifferenceConstraints(grid(constraints, 100)), k_lives, wide(10'000), true);
    ASSERT_FALSE(found.contradiction);
    EXPECT_GE(found.limits.of(1), 50'000);
    EXPECT_LE(found.limits.of(1), 80'000);
  }
}

TEST(NarrowLimits, a_contact_in_the_middle_of_a_life_tells_its_rate_but_for_the_wander) {
  const auto constraints = contacts(0, 0, 2, k_life * 6 / 10, k_life * 8 / 10);
  const Narrowed found =
      narrow_limits(DifferenceConstraints(grid(constraints, 200)), k_lives, wide(5'000), true);
  EXPECT_GE(found.limits.of(1), 5'000 + 40'000);
  EXPECT_LE(found.limits.of(1), 5'000 + 5'000 + 60'000);
}

TEST(NarrowLimits, without_contact_nothing_is_known) {
  const Narrowed found =
      narrow_limits(DifferenceConstraints(grid({}, 50)), k_lives, wide(5'000), true);
  EXPECT_EQ(found.limits.extra_ppb[1], k_most_rate_ppb);
  EXPECT_FALSE(found.intervals.of(1, 0).bounded());
}

TEST(NarrowLimits, a_limit_that_is_too_small_contradicts) {
  const auto constraints = contacts(400, 0, 3, 0, k_life);
  const DifferenceConstraints proof(grid(constraints, 100));
  EXPECT_TRUE(narrow_limits(proof, k_lives, wide(1'000), true).contradiction);
  EXPECT_FALSE(narrow_limits(proof, k_lives, wide(400'000), true).contradiction);
}

}  // namespace
}  // namespace entrain::bounds
