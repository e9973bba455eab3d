// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/base_line.hpp"

#include <limits>

#include <gtest/gtest.h>

#include "base/random.hpp"

namespace entrain::constraints {
namespace {

ClockMap map_of(std::vector<ClockKnot> knots) { return *ClockMap::from_knots(std::move(knots)); }

TEST(BaseLine, a_chord_goes_through_both_ends) {
  const ClockMap map = map_of({{1'000, 50}, {2'000, 80}, {11'000, -50}});
  const BaseLine line = chord(map, 1'000, 11'000);
  EXPECT_EQ(line(1'000), 1'050);
  EXPECT_EQ(line(11'000), 10'950);
  EXPECT_EQ(line(6'000), 6'000);
  EXPECT_EQ(chord(map, 1'000, 1'000), (BaseLine{1'000, 1'050, 0}));
}

TEST(BaseLine, stamps_follow_from_times_to_within_two_ticks) {
  RandomStream random(1, 1);
  for (int i = 0; i < 1'000; ++i) {
    const BaseLine line{random.below(1u << 31) << 20,
                        static_cast<std::int64_t>(random.below(1u << 31) << 21),
                        random.uniform(-0.1, 0.1)};
    const std::uint64_t local = line.anchor + random.below(1u << 31) * 1'000;
    const std::uint64_t back = line.local_at(line(local));
    EXPECT_LE(back > local ? back - local : local - back, 2u);
  }
}

TEST(BaseLine, times_beyond_all_measure_are_held) {
  const BaseLine line{0, std::int64_t{1} << 62, 0.5};
  EXPECT_EQ(line(~std::uint64_t{0}), std::int64_t{1} << 62);
  EXPECT_EQ(line.local_at(std::numeric_limits<std::int64_t>::min()), 0u);
  const BaseLine back{std::uint64_t{1} << 63, -(std::int64_t{1} << 61), 0};
  EXPECT_EQ(back(0), -(std::int64_t{1} << 61));
}

TEST(BaseLine, the_largest_rate_of_a_map_against_its_chord) {
  const ClockMap map = map_of({{0, 0}, {1'000'000, 100}, {2'000'000, 0}});
  EXPECT_NEAR(largest_rate(map, chord(map, 0, 2'000'000), 0, 2'000'000), 100e-6, 3e-6);
  EXPECT_EQ(largest_rate(map, chord(map, 0, 1'000'000), 0, 1'000'000), 0);
  EXPECT_EQ(largest_rate(ClockMap(), BaseLine(), 5, 5), 0);
}

}  // namespace
}  // namespace entrain::constraints
