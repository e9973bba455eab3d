// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/clock_map.hpp>

#include <cmath>
#include <random>

#include <gtest/gtest.h>

namespace entrain {
namespace {

ClockMap map_of(std::vector<ClockKnot> knots) {
  return ClockMap::from_knots(std::move(knots)).value();
}

TEST(ClockMap, the_example_of_the_header) {
  const ClockMap map = *ClockMap::from_knots({{1'000, 50}, {2'000, 60}});
  EXPECT_EQ(map(1'000), 1'050);
  EXPECT_EQ(map(1'500), 1'555);
  EXPECT_EQ(map(2'500), 2'565);
}

TEST(ClockMap, fewer_than_two_knots_are_the_identity) {
  EXPECT_EQ(ClockMap()(17), 17);
  EXPECT_EQ(map_of({{10, 500}})(17), 17);
  EXPECT_TRUE(map_of({{10, 500}}).is_identity());
}

TEST(ClockMap, interpolates_between_knots_and_extends_the_ends) {
  const ClockMap map = map_of({{100, 0}, {200, 10}, {300, 0}});
  EXPECT_EQ(map(100), 100);
  EXPECT_EQ(map(150), 155);
  EXPECT_EQ(map(200), 210);
  EXPECT_EQ(map(250), 255);
  EXPECT_EQ(map(50), 45);
  EXPECT_EQ(map(400), 390);
  EXPECT_TRUE(map.is_monotone());
}

TEST(ClockMap, ties_round_to_even_as_rint_does) {
  const ClockMap map = map_of({{0, 0}, {2, 1}});
  EXPECT_EQ(map(1), 1);  // 0.5 -> 0
  EXPECT_EQ(map(3), 5);  // 1.5 -> 2
}

// The formula that the header states, as written there.
TEST(ClockMap, rounds_as_a_reader_does) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200'000; ++i) {
    const auto bits = [&](unsigned most) { return random() >> (64 - 1 - random() % most); };
    const std::uint64_t begin = bits(60), end = begin + 1 + bits(60);
    const auto low = static_cast<std::int64_t>(bits(60)) * (random() % 2 == 0 ? 1 : -1);
    const auto high = low + static_cast<std::int64_t>(bits(56)) * (random() % 2 == 0 ? 1 : -1);
    if (high > std::int64_t{1} << 61 || high < -(std::int64_t{1} << 61)) continue;
    const ClockMap map = map_of({{begin, low}, {end, high}});
    const std::uint64_t t = begin + bits(61);
    const double slope = static_cast<double>(high - low) / static_cast<double>(end - begin);
    const double rest = std::rint(slope * static_cast<double>(t - begin));
    if (rest > 0x1p60 || rest < -0x1p60) continue;
    const auto expected = static_cast<std::int64_t>(t) + low + static_cast<std::int64_t>(rest);
    ASSERT_EQ(map(t), expected);
    ASSERT_EQ(ClockMap::Cursor(map)(t), expected);
  }
}

TEST(ClockMap, cursor_agrees_with_random_access) {
  const ClockMap map = map_of({{10, 5}, {20, -3}, {21, 9}, {1000, 9}, {2000, -400}});
  ClockMap::Cursor cursor(map);
  for (std::uint64_t t = 0; t < 3000; ++t) ASSERT_EQ(cursor(t), map(t)) << t;
}

TEST(ClockMap, cursor_never_goes_back) {
  const ClockMap map = map_of({{10, 0}, {20, 10}, {30, 0}});
  ClockMap::Cursor cursor(map);
  EXPECT_EQ(cursor(25), 30);
  EXPECT_EQ(cursor(15), 30);  // second segment, extended to the left: 15 + 10 + 5
}

TEST(ClockMap, steep_falls_are_not_monotone) {
  EXPECT_TRUE(map_of({{0, 100}, {100, 0}}).is_monotone());
  EXPECT_FALSE(map_of({{0, 101}, {100, 0}}).is_monotone());
}

// In doubles 39 times a 39th of that offset is 103 ticks more: the first segment ends above the
// next.
TEST(ClockMap, rises_that_a_double_cannot_tell_to_the_tick_break_the_order) {
  const std::int64_t far = 800'240'178'066'062'873;
  const ClockMap map = map_of({{1'000, 0}, {1'039, far}, {2'000, far}});
  EXPECT_TRUE(map.is_monotone());
  ASSERT_GT(map(1'039), map(1'040));
  EXPECT_FALSE(map.keeps_order(1'000, 2'000));
  EXPECT_TRUE(map.keeps_order(1'000, 1'039));
  EXPECT_TRUE(map.keeps_order(1'040, 2'000));
  EXPECT_TRUE(map_of({{1'000, 0}, {1'039, 1 << 30}, {2'000, 1 << 30}}).keeps_order(0, ~0u));
}

TEST(ClockMap, a_falling_line_breaks_the_order_far_from_its_knots) {
  const ClockMap map = map_of({{1'000, 0}, {2'000, -30}});
  const std::uint64_t far = std::uint64_t{1} << 60;
  bool falls = false;
  for (std::uint64_t t = far; t < far + 1'000; ++t) falls |= map(t + 1) < map(t);
  ASSERT_TRUE(falls);
  EXPECT_FALSE(map.keeps_order(0, far + 1'000));
  EXPECT_TRUE(map.keeps_order(0, std::uint64_t{1} << 52));
  EXPECT_TRUE(map_of({{far, 30}, {far + 1'000, 0}}).keeps_order(far, far + 5'000));
  EXPECT_FALSE(map_of({{far, 30}, {far + 1'000, 0}}).keeps_order(0, far));
}

TEST(ClockMap, refuses_knots_out_of_order) {
  EXPECT_FALSE(ClockMap::from_knots({{5, 0}, {5, 1}}));
  EXPECT_FALSE(ClockMap::from_knots({{5, 0}, {4, 1}}));
  EXPECT_FALSE(
      ClockMap::from_knots({{5, std::int64_t{1} << 61}, {6, 1ll + (std::int64_t{1} << 61)}}));
}

TEST(ClockMap, shift_moves_every_time) {
  EXPECT_EQ(ClockMap().shifted(7)(100), 107);
  EXPECT_EQ(map_of({{0, 1}, {10, 1}}).shifted(-1)(5), 5);
}

TEST(ClockMap, survives_extreme_values) {
  const ClockMap map = map_of({{0, -(std::int64_t{1} << 61)}, {1, std::int64_t{1} << 61}});
  (void)map(~std::uint64_t{0});
  (void)map(std::uint64_t{1} << 63);
  EXPECT_TRUE(ClockMap().is_monotone());
}

}  // namespace
}  // namespace entrain
