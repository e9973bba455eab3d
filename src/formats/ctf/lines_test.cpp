// SPDX-License-Identifier: BSD-3-Clause
#include "formats/ctf/lines.hpp"

#include <cstdint>
#include <random>

#include <gtest/gtest.h>

namespace entrain::ctf {
namespace {

constexpr std::int64_t k_s = 1'000'000'000;
constexpr std::uint64_t k_begin = 1'700'000'000ULL * k_s;

/// A clock as LTTng writes it.
ClockClass monotonic() {
  return {.name = "monotonic", .uuid = "", .offset = k_begin - 12'345ULL * k_s};
}

ClockMap line(const StampRange& span, std::int64_t first, std::int64_t last) {
  return ClockMap::from_knots({{span.first, first}, {span.last, last}}).value();
}

TEST(lines, a_constant_is_exact_and_leaves_the_frequency) {
  const StampRange span{k_begin, k_begin + 100 * k_s};
  for (const std::int64_t shift : std::initializer_list<std::int64_t>{-5'000'000'001, -1, 1, 7}) {
    const ClockClass after = retimed(monotonic(), ClockMap().shifted(shift), span);
    EXPECT_EQ(after.frequency, monotonic().frequency);
    EXPECT_EQ(after.offset_s, 0);
    EXPECT_EQ(static_cast<std::int64_t>(after.offset - monotonic().offset), shift);
    EXPECT_EQ(map_between(monotonic(), after, span)(k_begin + 5),
              static_cast<std::int64_t>(k_begin + 5) + shift);
  }
}

TEST(lines, a_slope_is_right_to_half_a_ppb_of_the_distance_from_the_middle) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i) {
    const StampRange span{k_begin, k_begin + 1 + random() % (4000ULL * k_s)};
    const auto within = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random() % (2 * most)) - most;
    };
    const std::int64_t length = static_cast<std::int64_t>(span.last - span.first);
    const std::int64_t first = within(10 * k_s);
    const ClockMap map = line(span, first, first + within(1 + length / 1000));
    const ClockMap stored = map_between(monotonic(), retimed(monotonic(), map, span), span);
    const std::int64_t allowed = 3 + length / (4 * k_s) + 1;
    for (const std::uint64_t stamp : {span.first, span.first + length / 3, span.last}) {
      EXPECT_LE(std::abs(map(stamp) - stored(stamp)), allowed);
    }
    // What was stored can be stored.
    EXPECT_LE(
        std::abs(map_between(monotonic(), retimed(monotonic(), stored, span), span)(span.last) -
                 stored(span.last)),
        allowed);
  }
}

TEST(lines, clocks_of_any_frequency_are_right_to_a_count) {
  for (const std::uint64_t frequency : {1ULL, 1'000ULL, 1'000'000'000ULL, 2'400'000'000ULL}) {
    const ClockClass clock{
        .name = "c", .uuid = "", .frequency = frequency, .offset_s = 1'600'000'000};
    const StampRange span{k_begin, k_begin + 100 * k_s};
    const ClockMap map = ClockMap().shifted(-3 * k_s - 5);
    const ClockClass after = retimed(clock, map, span);
    EXPECT_EQ(after.frequency, frequency);
    const auto count = static_cast<std::int64_t>(1 + k_s / frequency / 2);
    EXPECT_LE(std::abs(map_between(clock, after, span)(span.first) - map(span.first)), count);
  }
}

TEST(lines, offsets_below_zero_take_seconds) {
  const ClockClass clock{.name = "c", .uuid = "", .offset = 5};
  const ClockClass after =
      retimed(clock, ClockMap().shifted(-7), {.first = 1'000'000, .last = 2'000'000});
  EXPECT_EQ(after.offset_s, -1);
  EXPECT_EQ(after.offset, static_cast<std::uint64_t>(k_s - 2));
}

TEST(lines, far_clocks_do_not_overflow) {
  constexpr std::uint64_t k_far = (std::uint64_t{1} << 62) - 10;
  for (const std::uint64_t frequency : {std::uint64_t{1}, std::uint64_t{k_s}, ~std::uint64_t{0}}) {
    for (const std::int64_t seconds : {INT64_C(-9'223'372'036), INT64_C(9'223'372'036)}) {
      const ClockClass clock{.name = "c", .uuid = "", .frequency = frequency, .offset_s = seconds};
      const StampRange span{k_far - 1000, k_far};
      const ClockClass after = retimed(clock, ClockMap().shifted(-1000), span);
      EXPECT_EQ(after.frequency, frequency);
    }
  }
}

TEST(lines, the_frequency_stays_where_readers_would_round) {
  const ClockClass epoch{.name = "c", .uuid = ""};  // counts since 1970
  const StampRange span{k_begin, k_begin + 100 * k_s};
  EXPECT_EQ(retimed(epoch, line(span, 0, 1'000'000), span).frequency, epoch.frequency);
  EXPECT_NE(retimed(monotonic(), line(span, 0, 1'000'000), span).frequency, epoch.frequency);
}

TEST(lines, a_line_goes_through_the_middle_of_a_bend) {
  const ClockMap bent = ClockMap::from_knots({{0, 0}, {50, 40}, {100, 0}}).value();
  const ClockMap straight = line_of(bent, {.first = 0, .last = 100});
  EXPECT_EQ(straight(0), 20);
  EXPECT_EQ(straight(50), 70);
  EXPECT_EQ(straight(100), 120);
}

}  // namespace
}  // namespace entrain::ctf
