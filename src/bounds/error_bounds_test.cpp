// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/error_bounds.hpp"

#include <gtest/gtest.h>

namespace entrain::bounds {
namespace {

using difference::k_tick;

/// 10 % of rate; an error in [0, 18] at 100, in [2, 8] at 200.
ClockBound two_points() {
  return {RateRange::within(100'000'000),
          {{.time = 100, .lower = 0, .upper = 18 * k_tick},
           {.time = 200, .lower = 2 * k_tick, .upper = 8 * k_tick}}};
}

std::pair<std::int64_t, std::int64_t> ends(const Interval& interval) {
  return {interval.lower, interval.upper};
}
using Ends = std::pair<std::int64_t, std::int64_t>;

TEST(ClockBound, is_what_the_rate_leaves_between_points) {
  const ClockBound bound = two_points();
  EXPECT_EQ(ends(bound.interval(100)), Ends(0, 18));
  EXPECT_EQ(ends(bound.interval(150)), Ends(-3, 13));
  EXPECT_EQ(ends(bound.interval(205)), Ends(1, 9));  // half a tick is rounded outward
  EXPECT_EQ(ends(bound.interval(0)), Ends(-10, 28));
}

TEST(ClockBound, is_the_widest_of_a_span_of_time) {
  const ClockBound bound{RateRange::within(100'000'000),
                         {{.time = 100, .lower = 0, .upper = 4 * k_tick},
                          {.time = 200, .lower = 2 * k_tick, .upper = 8 * k_tick}}};
  // Upper bounds meet at 170: 11. Lower ones meet at 140: -4.
  EXPECT_EQ(ends(bound.over(100, 200)), Ends(-4, 11));
  EXPECT_EQ(ends(bound.over(160, 165)), Ends(-2, 11));
  EXPECT_EQ(ends(bound.over(150, 155)), Ends(-3, 10));
  EXPECT_EQ(ends(bound.over(190, 230)), Ends(-1, 11));
}

TEST(ClockBound, without_points_says_nothing) {
  EXPECT_FALSE(ClockBound().interval(5).bounded());
  EXPECT_FALSE(ClockBound().over(5, 90).bounded());
}

TEST(BoundCursor, takes_errors_away) {
  const ClockBound bound = two_points();
  constexpr unsigned k_bits = 3;
  const auto times = [&](Course course) {
    BoundCursor cursor(bound, course, 50, k_bits);
    std::vector<double> result;
    for (const std::int64_t time : {0, 150, 205 - 50}) {
      result.push_back(static_cast<double>(cursor(time)) / (1 << k_bits));
    }
    return result;
  };
  EXPECT_EQ(times(Course::greatest), (std::vector{0 - 23.0, 150 - 8.0, 155 - 8.5}));
  EXPECT_EQ(times(Course::least), (std::vector{0 + 5.0, 150 - 2.0, 155 - 1.5}));
  EXPECT_EQ(BoundCursor(ClockBound(), Course::least, 0, k_bits)(7), (7 + k_far) << k_bits);
}

TEST(BoundCursor, goes_straight_between_points) {
  const ClockBound bound{RateRange::within(100'000'000),
                         {{.time = 0, .lower = 0, .upper = 0},
                          {.time = 8, .lower = 16 * k_tick, .upper = 16 * k_tick}}};
  BoundCursor cursor(bound, Course::straight, 0, 0);
  for (const std::int64_t time : {0, 3, 8, 20}) {
    EXPECT_EQ(cursor(time), time - 2 * std::min<std::int64_t>(time, 8)) << time;
  }
}

}  // namespace
}  // namespace entrain::bounds
