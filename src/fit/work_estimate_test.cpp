// SPDX-License-Identifier: BSD-3-Clause
#include "fit/work_estimate.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::fit {
namespace {

/// Clocks on a grid of so many by so many, of which neighbours are coupled between all knots.
std::vector<FitConstraint> grid_of_constraints(std::uint32_t wide, std::uint32_t knots) {
  std::vector<FitConstraint> constraints;
  for (std::uint32_t clock = 0; clock < wide * wide; ++clock) {
    for (std::uint32_t k = 0; k + 1 < knots; ++k) {
      const std::uint32_t at = clock * knots + k;
      if (clock % wide != 0) constraints.push_back({at, at - knots, 0.5, 0.5, 0});
      if (clock >= wide) constraints.push_back({at, at - wide * knots, 0.5, 0.5, 0});
    }
  }
  return constraints;
}

TEST(WorkEstimate, is_about_that_of_a_factorisation) {
  const std::vector<FitConstraint> constraints = grid_of_constraints(7, 33);
  std::vector<FitTerm> fixed;
  for (std::uint32_t i = 0; i < 49 * 33; i += 33) {
    fixed.push_back({i, 0, 1});
    fixed.push_back({i + 31, 1, 1});
  }
  std::vector<std::uint32_t> active;
  for (std::uint32_t i = 0; i < constraints.size(); ++i) active.push_back(i);
  Curvature curvature(49, 33, fixed, constraints, 1);
  ASSERT_TRUE(curvature.compute(1, active, SolveMethod::direct));
  EXPECT_GT(estimate_work(49, 33, constraints), curvature.work() / 2);
  EXPECT_LT(estimate_work(49, 33, constraints), curvature.work() * 4);
}

TEST(WorkEstimate, uncoupled_clocks_cost_little) {
  EXPECT_EQ(estimate_work(0, 33, {}), 0);
  EXPECT_LT(estimate_work(4096, 33, {}), 33.0 * 33 * 33 * 4096);
}

TEST(WorkEstimate, too_much_of_it_is_reported_before_anything_is_factorised) {
  const std::vector<FitConstraint> many = grid_of_constraints(32, 33),
                                   few = grid_of_constraints(7, 33);
  const std::vector<FitTerm> fixed;
  EXPECT_TRUE(Curvature(32 * 32, 33, fixed, many, 1).is_clearly_costly());
  EXPECT_FALSE(Curvature(32 * 32, 33, fixed, {}, 1).is_clearly_costly());
  EXPECT_FALSE(Curvature(7 * 7, 33, fixed, few, 1).is_clearly_costly());
}

}  // namespace
}  // namespace entrain::fit
