// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/estimate.hpp"

#include <gtest/gtest.h>

namespace entrain::clocks {
namespace {

using Flags = std::vector<bool>;

/// Sessions every million ticks: offset and half-width of each.
std::vector<SessionPoint> points_of(const std::vector<std::pair<std::int64_t, double>>& sessions) {
  std::vector<SessionPoint> points;
  for (const auto& [offset, width] : sessions) {
    points.push_back({1'000'000 * (points.size() + 1), offset, width});
  }
  return points;
}

TEST(DisturbedSessions, a_wide_one_that_says_nothing_new_is_left_out) {
  const auto points = points_of({{0, 10}, {0, 10}, {25, 31}, {0, 10}, {0, 10}});
  EXPECT_EQ(disturbed_sessions(points), (Flags{false, false, true, false, false}));
  EXPECT_EQ(undisturbed(points).size(), 4u);
  // Three times as wide is not wide enough.
  EXPECT_EQ(disturbed_sessions(points_of({{0, 10}, {0, 10}, {25, 30}, {0, 10}, {0, 10}})),
            Flags(5));
}

TEST(DisturbedSessions, one_that_contradicts_the_others_counts) {
  // The clock was 300 ticks off there, whatever the others say.
  EXPECT_EQ(disturbed_sessions(points_of({{0, 10}, {0, 10}, {300, 100}, {0, 10}, {0, 10}})),
            Flags(5));
}

TEST(DisturbedSessions, one_that_knows_more_than_curves_of_a_wandering_clock_counts) {
  // The curve through the others is off by hundreds of ticks at each of them.
  EXPECT_EQ(
      disturbed_sessions(points_of(
          {{0, 10}, {500, 10}, {0, 10}, {500, 10}, {250, 200}, {500, 10}, {0, 10}, {500, 10}})),
      Flags(8));
}

TEST(DisturbedSessions, those_at_the_ends_count) {
  EXPECT_EQ(disturbed_sessions(
                points_of({{0, 900}, {0, 10}, {0, 10}, {0, 10}, {0, 10}, {0, 10}, {0, 900}})),
            Flags(7));
}

TEST(DisturbedSessions, several_in_a_row_are_left_out_together) {
  EXPECT_EQ(disturbed_sessions(points_of(
                {{0, 10}, {1, 10}, {0, 10}, {90, 100}, {-70, 110}, {0, 10}, {1, 10}, {0, 10}})),
            (Flags{false, false, false, true, true, false, false, false}));
}

TEST(DisturbedSessions, the_others_must_be_known_and_enough) {
  EXPECT_EQ(disturbed_sessions(points_of({{0, 10}, {0, 10}, {75, 100}, {0, 10}})), Flags(4));
  auto unknown = points_of({{0, 10}, {0, 10}, {75, 100}, {0, 10}, {0, 10}});
  unknown[1].half_width.reset();
  EXPECT_EQ(disturbed_sessions(unknown), Flags(5));
  EXPECT_TRUE(disturbed_sessions({}).empty());
}

}  // namespace
}  // namespace entrain::clocks
