// SPDX-License-Identifier: BSD-3-Clause
#include "fit/coupling_graph.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::fit {
namespace {

constexpr std::uint32_t k_meeting_knots = 33;

/// Constraints between every clock and the next `neighbours` ones, at one knot.
std::vector<FitConstraint> constraints_to_neighbours(std::uint32_t clocks,
                                                     std::uint32_t neighbours) {
  std::vector<FitConstraint> constraints;
  for (std::uint32_t c = 0; c < clocks; ++c) {
    for (std::uint32_t n = 1; n <= neighbours; ++n) {
      constraints.push_back(
          {c * k_meeting_knots + 5, (c + n) % clocks * k_meeting_knots + 5, 0, 0, 0});
    }
  }
  return constraints;
}

bool is_dense(std::uint32_t clocks, const std::vector<FitConstraint>& constraints) {
  CouplingGraph meeting(clocks, k_meeting_knots);
  meeting.take(constraints);
  return meeting.is_dense();
}

TEST(CouplingGraph, few_clocks_are_dense) { EXPECT_TRUE(is_dense(3, {})); }

TEST(CouplingGraph, a_ring_of_many_is_not) {
  EXPECT_FALSE(is_dense(40, constraints_to_neighbours(40, 1)));
}

TEST(CouplingGraph, many_coupled_with_most_others_are) {
  EXPECT_TRUE(is_dense(40, constraints_to_neighbours(40, 15)));
}

TEST(CouplingGraph, far_too_many_are_not) {
  EXPECT_FALSE(is_dense(2000, constraints_to_neighbours(2000, 600)));
}

TEST(CouplingGraph, distant_knots_do_not_fit) {
  std::vector<FitConstraint> constraints = constraints_to_neighbours(40, 15);
  constraints.push_back({4, k_meeting_knots + 5, 0, 0, 0});
  EXPECT_TRUE(is_dense(40, constraints));
  constraints.push_back({4, k_meeting_knots + 6, 0, 0, 0});
  EXPECT_FALSE(is_dense(40, constraints));
}

TEST(CouplingGraph, are_forgotten) {
  CouplingGraph meeting(40, k_meeting_knots);
  meeting.take(constraints_to_neighbours(40, 15));
  meeting.forget();
  EXPECT_FALSE(meeting.is_dense());
}

}  // namespace
}  // namespace entrain::fit
