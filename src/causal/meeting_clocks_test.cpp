// SPDX-License-Identifier: BSD-3-Clause
#include "causal/meeting_clocks.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::causal {
namespace {

constexpr std::uint32_t k_meeting_knots = 33;

/// Limits between every clock and the next `neighbours` ones, at one knot.
std::vector<FitLimit> limits_to_neighbours(std::uint32_t clocks, std::uint32_t neighbours) {
  std::vector<FitLimit> limits;
  for (std::uint32_t c = 0; c < clocks; ++c) {
    for (std::uint32_t n = 1; n <= neighbours; ++n) {
      limits.push_back({c * k_meeting_knots + 5, (c + n) % clocks * k_meeting_knots + 5, 0, 0, 0});
    }
  }
  return limits;
}

bool are_dense(std::uint32_t clocks, const std::vector<FitLimit>& limits) {
  MeetingClocks meeting(clocks, k_meeting_knots);
  meeting.take(limits);
  return meeting.are_dense();
}

TEST(MeetingClocks, few_clocks_are_dense) { EXPECT_TRUE(are_dense(3, {})); }

TEST(MeetingClocks, a_ring_of_many_is_not) {
  EXPECT_FALSE(are_dense(40, limits_to_neighbours(40, 1)));
}

TEST(MeetingClocks, many_that_meet_most_others_are) {
  EXPECT_TRUE(are_dense(40, limits_to_neighbours(40, 15)));
}

TEST(MeetingClocks, far_too_many_are_not) {
  EXPECT_FALSE(are_dense(2000, limits_to_neighbours(2000, 600)));
}

TEST(MeetingClocks, distant_knots_do_not_fit) {
  std::vector<FitLimit> limits = limits_to_neighbours(40, 15);
  limits.push_back({4, k_meeting_knots + 5, 0, 0, 0});
  EXPECT_TRUE(are_dense(40, limits));
  limits.push_back({4, k_meeting_knots + 6, 0, 0, 0});
  EXPECT_FALSE(are_dense(40, limits));
}

TEST(MeetingClocks, are_forgotten) {
  MeetingClocks meeting(40, k_meeting_knots);
  meeting.take(limits_to_neighbours(40, 15));
  meeting.forget();
  EXPECT_FALSE(meeting.are_dense());
}

}  // namespace
}  // namespace entrain::causal
