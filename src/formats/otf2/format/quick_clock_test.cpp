// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/format/quick_clock.hpp"

#include <random>

#include <gtest/gtest.h>

namespace entrain::otf2 {
namespace {

/// Knots with distances and offsets of all sizes.
ClockMap random_map(std::mt19937_64& random) {
  std::vector<ClockKnot> knots;
  const std::uint64_t count = random() % 12;
  std::uint64_t time = random() >> random() % 64;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto size = static_cast<std::int64_t>(random() >> (3 + random() % 61));
    knots.push_back({time, random() % 2 == 0 ? size : -size});
    const std::uint64_t step = 1 + (random() >> (3 + random() % 61));
    if (time > ~std::uint64_t{0} - step) break;
    time += step;
  }
  return *ClockMap::from_knots(std::move(knots));
}

/// A time near a knot, or anywhere.
std::uint64_t random_time(std::mt19937_64& random, const ClockMap& map) {
  const std::uint64_t distance = random() >> random() % 64;
  if (map.knots().empty() || random() % 8 == 0) return distance;
  const std::uint64_t knot = map.knots()[random() % map.knots().size()].local;
  return random() % 2 == 0 ? knot + distance : knot - distance;
}

TEST(QuickClock, is_the_cursor_of_the_map_to_the_bit) {
  std::mt19937_64 random(1);
  std::size_t held = 0;
  for (int round = 0; round < 20'000; ++round) {
    const ClockMap map = random_map(random);
    ClockMap::Cursor cursor(map);
    QuickClock clock(map);
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t time = random_time(random, map);
      if (clock.line().holds(time)) {  // then the clock itself need not be asked
        ++held;
        ASSERT_EQ(clock.line().at(time), cursor(time)) << "round " << round;
      } else {
        ASSERT_EQ(clock(time), cursor(time)) << "round " << round;
      }
    }
  }
  EXPECT_GT(held, 100'000u);
}

TEST(QuickClock, holds_nothing_before_the_first_time) {
  const ClockMap map = *ClockMap::from_knots({{0, 5}, {100, 10}});
  QuickClock clock(map);
  EXPECT_FALSE(clock.line().holds(50));
  EXPECT_EQ(clock(50), 57);  // 7.5 is rounded to even: 8 would be wrong for 52.5 only
  EXPECT_TRUE(clock.line().holds(51));
}

TEST(QuickClock, can_begin_in_a_later_segment) {
  const ClockMap map = *ClockMap::from_knots({{0, 0}, {100, 0}, {200, 100}});
  QuickClock clock(map);
  clock.start_in(1);
  EXPECT_EQ(clock(50), 0);  // extended to the left
  EXPECT_EQ(clock.segment(), 1u);
}

}  // namespace
}  // namespace entrain::otf2
