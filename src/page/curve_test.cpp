// SPDX-License-Identifier: BSD-3-Clause
#include "page/curve.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::page {
namespace {

std::vector<Point> reduced(const std::vector<Point>& points, std::int64_t end, std::size_t most) {
  CurveReducer reducer(0, end, most);
  for (const Point& point : points) reducer.add(point);
  return reducer.take();
}

TEST(CurveReducer, keeps_all_of_few_points) {
  const std::vector<Point> points{{0, 5}, {3, -1}, {9, 2}};
  EXPECT_EQ(reduced(points, 10, 4), points);
}

TEST(CurveReducer, keeps_the_extremes_of_columns) {
  const std::vector<Point> points{{0, 5}, {1, 9}, {2, 1}, {7, 3}, {8, 3}};
  EXPECT_EQ(reduced(points, 9, 4), (std::vector<Point>{{1, 9}, {2, 1}, {7, 3}}));
}

TEST(CurveReducer, loses_no_extreme_and_keeps_the_order) {
  std::mt19937 random(7);
  for (int round = 0; round < 50; ++round) {
    std::vector<Point> points;
    std::int64_t x = 0;
    for (int i = 0; i < 5'000; ++i) {
      x += static_cast<std::int64_t>(random() % 20);
      points.push_back({x, static_cast<std::int64_t>(random() % 2'000'000) - 1'000'000});
    }
    const std::vector<Point> few = reduced(points, x, 200);
    ASSERT_LE(few.size(), 200u);
    const auto by_y = [](const Point& a, const Point& b) { return a.y < b.y; };
    const auto [low, high] = std::minmax_element(points.begin(), points.end(), by_y);
    const auto [few_low, few_high] = std::minmax_element(few.begin(), few.end(), by_y);
    EXPECT_EQ(few_low->y, low->y);
    EXPECT_EQ(few_high->y, high->y);
    EXPECT_TRUE(std::is_sorted(few.begin(), few.end(),
                               [](const Point& a, const Point& b) { return a.x < b.x; }));
  }
}

TEST(CurveReducer, takes_points_outside_of_its_range) {
  std::vector<Point> points;
  for (std::int64_t x = -50; x < 50; ++x) points.push_back({x, x});
  const std::vector<Point> few = reduced(points, 10, 10);
  EXPECT_EQ(few.front().y, -50);
  EXPECT_EQ(few.back().y, 49);
}

}  // namespace
}  // namespace entrain::page
