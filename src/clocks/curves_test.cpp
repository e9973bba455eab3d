// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/curves.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

#include <gtest/gtest.h>

namespace entrain::clocks {
namespace {

constexpr std::uint64_t k_far = std::uint64_t{1} << 62;  // where a double holds no tick

std::vector<SessionPoint> points_of(const std::function<double(double)>& offset,
                                    const std::vector<double>& times, std::uint64_t start = k_far) {
  std::vector<SessionPoint> points;
  for (const double x : times) {
    points.push_back({start + static_cast<std::uint64_t>(x), std::llrint(offset(x)), 0});
  }
  return points;
}

ClockMap map_of(const std::vector<ClockKnot>& knots) { return ClockMap::from_knots(knots).value(); }

/// Offset that a map gives, ticks.
double offset_at(const ClockMap& map, std::uint64_t local) {
  return static_cast<double>(map(local) - static_cast<std::int64_t>(local));
}

TEST(Line, goes_through_points_on_a_line_whatever_the_weights) {
  std::vector<WeightedPoint> points;
  for (std::uint64_t i = 0; i < 10; ++i) {
    points.push_back({k_far + i * 1'000'000, -7'000'000'000 + std::int64_t(i) * 20,
                      1.0 + static_cast<double>(i % 3)});
  }
  const Line line(points);
  EXPECT_DOUBLE_EQ(line.slope(), 20e-6);
  for (const WeightedPoint& p : points) {
    EXPECT_NEAR(line.residual(p), 0, 1e-9);
    EXPECT_NEAR(line.residual_left_out(p), 0, 1e-8);
  }
  const auto knots = line.knots(k_far, k_far + 9'000'000);
  EXPECT_EQ(knots[0], (ClockKnot{k_far, -7'000'000'000}));
  EXPECT_EQ(knots[1], (ClockKnot{k_far + 9'000'000, -7'000'000'000 + 180}));
}

TEST(Line, left_out_residual_is_that_of_the_line_through_the_others) {
  const std::vector<WeightedPoint> points{
      {100, 5, 1}, {200, 9, 2}, {350, 4, 0.5}, {400, 30, 1}, {700, -3, 1}};
  const Line all(points);
  for (std::size_t k = 0; k < points.size(); ++k) {
    std::vector<WeightedPoint> others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    EXPECT_NEAR(all.residual_left_out(points[k]), Line(others).residual(points[k]), 1e-9) << k;
  }
}

TEST(Spline, is_exact_for_parabolas) {
  const auto parabola = [](double x) { return 1e5 - 3e-5 * x + 4e-15 * x * x; };
  const auto points = points_of(parabola, {0, 1e9, 2.5e9, 3e9, 7e9});
  const Spline spline(points);
  const ClockMap map = map_of(spline.knots(0.4));
  EXPECT_LE(spline.chord_error(0.4), 0.4 + 1e-9);
  for (double x = 0; x <= 7e9; x += 1.234e7) {
    // Rounding: of the points, the knots, and the time itself.
    ASSERT_NEAR(offset_at(map, k_far + static_cast<std::uint64_t>(x)), parabola(x), 2.5) << x;
  }
}

TEST(Spline, passes_through_all_points_with_a_continuous_derivative) {
  const auto points =
      points_of([](double x) { return 2e4 * std::sin(x / 2e9) + 3e4 * std::cos(x / 3e9); },
                {0, 1e9, 3e9, 3.5e9, 6e9, 8e9});
  const ClockMap map = map_of(Spline(points).knots(0.4));
  for (const SessionPoint& p : points) {
    EXPECT_EQ(map(p.local), static_cast<std::int64_t>(p.local) + p.offset);
    const auto slope = [&](std::int64_t from, std::int64_t to) {
      return (offset_at(map, p.local + static_cast<std::uint64_t>(to)) -
              offset_at(map, p.local + static_cast<std::uint64_t>(from))) /
             static_cast<double>(to - from);
    };
    // Over 40 ms, knots rounded to a tick, curvature below 1e-14 per tick.
    EXPECT_NEAR(slope(-40'000'000, 0), slope(0, 40'000'000), 8e-7) << p.local;
  }
}

TEST(Spline, goes_on_straight_outside) {
  const auto parabola = [](double x) { return 4e-15 * x * x; };
  const ClockMap map = map_of(Spline(points_of(parabola, {0, 1e9, 2e9, 4e9})).knots(0.4));
  EXPECT_NEAR(offset_at(map, k_far - 500'000'000), 0, 2);                          // tangent at 0
  EXPECT_NEAR(offset_at(map, k_far + 5'000'000'000), 64'000 + 8e-6 * 4 * 1e9, 3);  // at 4e9
  // Also at the ends of what a stamp can be.
  const auto at_zero = points_of(parabola, {0, 1e9, 2e9}, 0);
  EXPECT_TRUE(ClockMap::from_knots(Spline(at_zero).knots(0.4)));
  const auto at_end = points_of(parabola, {0, 1e9, 2e9}, ~std::uint64_t{0} - 2'000'000'000);
  EXPECT_TRUE(ClockMap::from_knots(Spline(at_end).knots(0.4)));
}

TEST(Spline, never_turns_time_back) {
  // Global time stands still, jumps, crawls: a free cubic would overshoot.
  const std::vector<SessionPoint> points{{1'000, 0, 0},       {2'000, -1'000, 0},
                                         {3'000, -2'000, 0},  {3'010, 900'000, 0},
                                         {4'000, 899'020, 0}, {5'000, 898'021, 0}};
  const ClockMap map = map_of(Spline(points).knots(0.4));
  EXPECT_TRUE(map.is_monotone());
  for (const SessionPoint& p : points) {
    EXPECT_EQ(map(p.local), static_cast<std::int64_t>(p.local) + p.offset);
  }
  std::int64_t last = map(0);
  for (std::uint64_t t = 1; t < 7'000; ++t) {
    ASSERT_GE(map(t), last) << t;
    last = map(t);
  }
}

TEST(Spline, is_monotone_through_any_monotone_points) {
  std::mt19937_64 random(7);
  const auto below = [&](std::uint64_t limit) { return random() % limit; };
  for (int round = 0; round < 3'000; ++round) {
    // Distances of all sizes, local and global ones on their own.
    std::vector<SessionPoint> points;
    std::uint64_t local = below(std::uint64_t{1} << below(60));
    std::uint64_t global = below(std::uint64_t{1} << below(60));
    for (std::uint64_t k = 0, count = 2 + below(8); k < count; ++k) {
      points.push_back({local, static_cast<std::int64_t>(global - local), 0});
      local += 1 + below(std::uint64_t{1} << below(56));
      global += below(std::uint64_t{1} << below(56));
    }
    const auto map = ClockMap::from_knots(Spline(points).knots(0.4));
    ASSERT_TRUE(map) << round << ": " << map.error().message;
    ASSERT_TRUE(map->is_monotone()) << round;
    for (const SessionPoint& p : points) {
      const ClockKnot knot{p.local, p.offset};
      ASSERT_EQ(std::count(map->knots().begin(), map->knots().end(), knot), 1) << round;
    }
  }
}

TEST(Spline, two_points_make_a_line) {
  const Spline spline(points_of([](double x) { return 100 - 1e-5 * x; }, {0, 1e9}));
  EXPECT_EQ(spline.knots(0.4).size(), 4u);  // one outside on either side
  EXPECT_DOUBLE_EQ(spline.after(0, k_far + 500'000'000), -5'000);
}

TEST(LeftOut, tells_the_distance_from_what_the_others_say) {
  const auto cube = [](double x) { return 1e-23 * x * x * x; };
  const auto points = points_of(cube, {0, 1e9, 2e9, 3e9, 4e9, 5e9});
  // Second difference of x^3 over steps h: 6 x h^2 / 2 off the chord.
  EXPECT_NEAR(left_out_of_line(points, 2), -3 * 2e9 * 1e18 * 1e-23, 2);
  for (std::size_t k = 1; k + 1 < points.size(); ++k) {
    std::vector<SessionPoint> others = points;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(k));
    const Spline spline(others);
    EXPECT_NEAR(left_out_of_spline(points, k),
                static_cast<double>(points[k].offset - points[k - 1].offset) -
                    spline.after(k - 1, points[k].local),
                1e-9)
        << k;
  }
}

}  // namespace
}  // namespace entrain::clocks
