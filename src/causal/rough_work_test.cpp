// SPDX-License-Identifier: BSD-3-Clause
#include "causal/rough_work.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::causal {
namespace {

/// Clocks on a grid of so many by so many, of which neighbours meet between all knots.
std::vector<FitLimit> grid_of_limits(std::uint32_t wide, std::uint32_t knots) {
  std::vector<FitLimit> limits;
  for (std::uint32_t clock = 0; clock < wide * wide; ++clock) {
    for (std::uint32_t k = 0; k + 1 < knots; ++k) {
      const std::uint32_t at = clock * knots + k;
      if (clock % wide != 0) limits.push_back({at, at - knots, 0.5, 0.5, 0});
      if (clock >= wide) limits.push_back({at, at - wide * knots, 0.5, 0.5, 0});
    }
  }
  return limits;
}

TEST(RoughWork, is_about_that_of_a_factorisation) {
  const std::vector<FitLimit> limits = grid_of_limits(7, 33);
  std::vector<FitTerm> fixed;
  for (std::uint32_t i = 0; i < 49 * 33; i += 33) {
    fixed.push_back({i, 0, 1});
    fixed.push_back({i + 31, 1, 1});
  }
  std::vector<std::uint32_t> active;
  for (std::uint32_t i = 0; i < limits.size(); ++i) active.push_back(i);
  Curvature curvature(49, 33, fixed, limits, 1);
  ASSERT_TRUE(curvature.compute(1, active, Curvature::Way::direct));
  EXPECT_GT(rough_work(49, 33, limits), curvature.work() / 2);
  EXPECT_LT(rough_work(49, 33, limits), curvature.work() * 4);
}

TEST(RoughWork, clocks_that_do_not_meet_cost_little) {
  EXPECT_EQ(rough_work(0, 33, {}), 0);
  EXPECT_LT(rough_work(4096, 33, {}), 33.0 * 33 * 33 * 4096);
}

TEST(RoughWork, too_much_of_it_is_told_before_anything_is_factorised) {
  const std::vector<FitLimit> many = grid_of_limits(32, 33), few = grid_of_limits(7, 33);
  const std::vector<FitTerm> fixed;
  EXPECT_TRUE(Curvature(32 * 32, 33, fixed, many, 1).is_clearly_costly());
  EXPECT_FALSE(Curvature(32 * 32, 33, fixed, {}, 1).is_clearly_costly());
  EXPECT_FALSE(Curvature(7 * 7, 33, fixed, few, 1).is_clearly_costly());
}

}  // namespace
}  // namespace entrain::causal
