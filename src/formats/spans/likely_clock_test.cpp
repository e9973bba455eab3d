// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/likely_clock.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/random.hpp"

namespace entrain::spans {
namespace {

using testing::Each;

constexpr std::int64_t k_s = 1'000'000'000;

/// Bounds of calls that allow offsets from `offset` - 80 to `offset` + 80.
void allow(std::int64_t time, std::int64_t offset, std::vector<Bound>& bounds) {
  bounds.push_back({time, offset - 80, false, 20});
  bounds.push_back({time, offset + 80, true, 40, 0, true});
}

TEST(LikelyClock, is_right_if_one_bound_says_something_else) {
  std::vector<Bound> bounds;
  for (int i = 0; i < 9; ++i) allow(i * k_s, 0, bounds);
  bounds.push_back({8 * k_s + 10'000'000, 5'000, false, 20});
  const LikelyClock clock = ClockFinder().find(bounds).value();
  EXPECT_THAT(clock.offsets, Each(0));
  EXPECT_EQ(clock.bits, 20);
}

TEST(LikelyClock, is_wrong_if_all_bounds_say_so) {
  std::vector<Bound> bounds;
  for (int i = 0; i < 9; ++i) allow(i * k_s, -3'000'000, bounds);
  const LikelyClock clock = ClockFinder().find(bounds).value();
  EXPECT_EQ(clock.bits, ClockPrices::wrong);
  for (const std::int64_t offset : clock.offsets) EXPECT_LE(std::abs(offset + 3'000'000), 80);
}

TEST(LikelyClock, was_set_where_bounds_change) {
  std::vector<Bound> bounds;
  for (int i = 0; i < 10; ++i) allow(i * k_s, 0, bounds);
  for (int i = 10; i < 20; ++i) allow(i * k_s, 8'000'000, bounds);
  const LikelyClock clock = ClockFinder().find(bounds).value();
  EXPECT_EQ(clock.bits, ClockPrices::step);
  EXPECT_EQ(clock.offsets[19], 0);
  EXPECT_LE(std::abs(clock.offsets[20] - 8'000'000), 80);
}

TEST(LikelyClock, drifts_evenly) {
  std::vector<Bound> even, uneven;
  for (int i = 0; i < 60; ++i) allow(i * k_s, 50'000 * i, even);
  for (int i = 0; i < 60; ++i) allow(i * k_s, i % 2 == 0 ? 0 : 50'000, uneven);
  EXPECT_EQ(ClockFinder().find(even)->bits, ClockPrices::wrong + ClockPrices::rate);
  EXPECT_GT(ClockFinder().find(uneven)->bits, ClockPrices::step);
}

TEST(LikelyClock, may_be_fast) {
  std::vector<Bound> bounds;
  for (int i = 0; i < 60; ++i) allow(i * k_s, 500'000 * i, bounds);
  EXPECT_EQ(ClockFinder().find(bounds)->bits, ClockPrices::wrong + ClockPrices::fast);
}

TEST(LikelyClock, may_be_slewed) {
  for (const std::int64_t sign : {-1, 1}) {
    std::vector<Bound> bounds;
    const auto offset_at = [&](std::int64_t s) {  // 30 ms off, slewed by 500 ppm
      return sign * std::clamp<std::int64_t>(30'000'000 - 500'000 * (s - 40), 0, 30'000'000);
    };
    for (int i = 0; i < 140; ++i) allow(i * k_s, offset_at(i), bounds);
    const LikelyClock clock = ClockFinder().find(bounds).value();
    if (sign > 0) {  // only ends are broken by a right clock: they may be late
      EXPECT_GT(clock.bits, 2 * ClockPrices::slew);
      continue;
    }
    EXPECT_EQ(clock.bits, ClockPrices::wrong + ClockPrices::slew);
    for (int i = 0; i < 140; ++i) {
      EXPECT_LE(std::abs(clock.offsets[2 * static_cast<std::size_t>(i)] - offset_at(i)), 80);
    }
  }
}

/// Begins hold for a right clock, and ends are late by 500 ppm more and more, and less and less.
TEST(LikelyClock, is_not_slewed_by_a_queue_that_grows_and_drains) {
  std::vector<Bound> bounds;
  for (std::int64_t i = 0; i < 100; ++i) {
    const std::int64_t late = 500'000 * std::min(i, 100 - i);
    bounds.push_back({i * k_s, late, true, 40, 0, true});
    bounds.push_back({i * k_s + late, late - 200'000, false, 20});
  }
  EXPECT_GT(ClockFinder().find(bounds)->bits, 500);
}

/// Late ends are no clock that is slewed to them and back.
TEST(LikelyClock, is_not_slewed_to_late_ends) {
  std::vector<Bound> bounds;
  for (int i = 0; i < 100; ++i) {
    allow(i * k_s, 0, bounds);
    if (i % 20 >= 15) bounds.push_back({i * k_s + k_s / 2, 300'000, false, 20});
  }
  const LikelyClock clock = ClockFinder().find(bounds).value();
  EXPECT_THAT(clock.offsets, Each(0));
}

TEST(LikelyClock, of_bounds_at_both_ends_of_time_does_not_overflow) {
  constexpr std::int64_t k_most = std::int64_t{1} << 61;
  const std::vector<Bound> bounds{{0, k_most, false, 20}, {2 * k_most, -k_most, true, 20}};
  EXPECT_EQ(ClockFinder().find(bounds)->bits, ClockPrices::wrong + 20);
}

/// One bound after the other excludes all that the last one allowed, from 1 ms to 1 ms.
TEST(LikelyClock, of_bounds_that_contradict_each_other_in_turns_takes_no_square_of_memory) {
  std::vector<Bound> bounds;
  for (int i = 0; i < 100'000; ++i) {
    const std::int64_t low = (i * 7'919 % 100'003) * 1'000'000LL;
    bounds.push_back({i, low, i % 2 == 0, 1});
  }
  const LikelyClock clock = ClockFinder().find(bounds).value();
  EXPECT_EQ(clock.offsets.size(), bounds.size());
  EXPECT_GE(clock.bits, ClockPrices::wrong);
}

/// The least price of offsets from -range to range that change by one at most, of clocks that were
/// set, and of those that rise or fall by six at most for a while; by dynamic programming over all
/// of them.
std::int32_t least_price(const std::vector<Bound>& bounds, std::int64_t range) {
  constexpr std::size_t k_step = 1, k_slew = 6;
  const auto size = static_cast<std::size_t>(2 * range + 1);
  std::vector<std::int32_t> steady(size, ClockPrices::wrong);
  std::array<std::vector<std::int32_t>, 2> slewed;  // to higher offsets, to lower ones
  slewed.fill(std::vector<std::int32_t>(size, ClockPrices::wrong + ClockPrices::slew));
  const auto moved = [&](const std::vector<std::int32_t>& from, std::size_t fall,
                         std::size_t rise) {
    std::vector<std::int32_t> to = from;
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = i - std::min(i, rise); k <= std::min(size - 1, i + fall); ++k) {
        to[i] = std::min(to[i], from[k]);
      }
    }
    return to;
  };
  std::int32_t right = 0;
  bool is_first = true;
  for (const Bound& bound : bounds) {
    if (!std::exchange(is_first, false)) {
      steady = moved(steady, k_step, k_step);
      slewed[0] = moved(slewed[0], k_step, k_slew);
      slewed[1] = moved(slewed[1], k_slew, k_step);
    }
    for (std::size_t i = 0; i < size; ++i) {
      for (auto& one : slewed) one[i] = std::min(one[i], steady[i] + ClockPrices::slew);
      for (const auto& one : slewed) steady[i] = std::min(steady[i], one[i]);
    }
    const std::int32_t least = *std::ranges::min_element(steady);
    for (std::size_t i = 0; i < size; ++i) {
      const bool is_broken = !holds(bound, static_cast<std::int64_t>(i) - range);
      steady[i] = std::min(steady[i], std::min(least, right) + ClockPrices::step);
      steady[i] += is_broken ? bound.price : 0;
      for (auto& one : slewed) one[i] += is_broken ? bound.price : 0;
    }
    right = std::min(right, least + ClockPrices::step) + (holds(bound, 0) ? 0 : bound.price);
  }
  return std::min(right, *std::ranges::min_element(steady));
}

/// Price of the bounds that do not hold.
std::int32_t broken_by(const LikelyClock& clock, const std::vector<Bound>& bounds) {
  std::int32_t bits = 0;
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    bits += holds(bounds[i], clock.offsets[i]) ? 0 : bounds[i].price;
  }
  return bits;
}

/// Of clocks that are slewed by 40 between the bounds 10 and 20, and some ends that are none.
TEST(LikelyClock, that_is_slewed_costs_no_more_than_any_other_one) {
  int slewed = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    RandomStream random(seed, 3);
    std::vector<Bound> bounds;
    for (int i = 0; i < 40; ++i) {
      const std::int64_t centre = (seed % 2 == 0 ? 4 : -4) * std::clamp(i - 10, 0, 10);
      const bool is_upper = random.below(2) == 0, is_none = random.below(10) == 0;
      const auto spread = static_cast<std::int64_t>(random.below(12)) - (is_none ? 30 : 0);
      bounds.push_back({i * 5'000, centre + (is_upper ? spread : -spread), is_upper,
                        static_cast<std::int32_t>(5 + random.below(30)), 0, true});
    }
    const auto is_broken = [](const Bound& bound) { return !holds(bound, 0); };
    if (std::ranges::count_if(bounds, is_broken) < ClockPrices::slew_begins) continue;
    const LikelyClock clock = ClockFinder().find(bounds).value();
    const std::int32_t least = least_price(bounds, 90), broken = broken_by(clock, bounds);
    if (clock.bits < least) {  // it drifts
      EXPECT_GE(clock.bits, broken + ClockPrices::rate) << seed;
      continue;
    }
    EXPECT_EQ(clock.bits, least) << seed;
    const std::int32_t own = clock.bits - broken;
    slewed += own == ClockPrices::wrong + ClockPrices::slew ? 1 : 0;
    EXPECT_TRUE(own == 0 || own >= ClockPrices::wrong) << seed;
  }
  EXPECT_GT(slewed, 300);
}

TEST(LikelyClock, costs_no_more_than_any_other_one) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomStream random(seed, 1);
    std::vector<Bound> bounds;
    for (int i = 0; i < 40; ++i) {
      const std::int64_t centre = i < 20 ? 0 : 25;
      const auto spread = static_cast<std::int64_t>(random.below(21)) - 8;
      const bool is_upper = random.below(2) == 0;
      bounds.push_back({i * 5'000, centre + (is_upper ? spread : -spread), is_upper,
                        static_cast<std::int32_t>(1 + random.below(8))});
    }
    const LikelyClock clock = ClockFinder().find(bounds).value();
    const std::int32_t least = least_price(bounds, 60);
    const std::int32_t broken = broken_by(clock, bounds);
    // A clock that drifts may be cheaper still, and costs no less than what it says.
    if (clock.bits < std::min(least, ClockPrices::fast)) {
      EXPECT_EQ(clock.bits, broken + ClockPrices::wrong + ClockPrices::rate) << seed;
    } else {
      EXPECT_EQ(std::min(clock.bits, ClockPrices::fast), std::min(least, ClockPrices::fast))
          << seed;
    }
    EXPECT_LE(broken, clock.bits) << seed;
  }
}

/// A client that gives up now and then: the right clock breaks some bounds.
std::vector<Bound> with_late_ends(RandomStream& random, std::int64_t most_late) {
  std::vector<Bound> bounds;
  for (std::int64_t i = 0; i < 200; ++i) {
    const bool is_upper = random.below(2) == 0, is_late = random.below(12) == 0;
    const auto slack = static_cast<std::int64_t>(random.below(500'000));
    const std::int64_t offset =
        is_late ? -static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(most_late)))
                : slack;
    bounds.push_back({i * 1'000'000 + static_cast<std::int64_t>(random.below(900'000)),
                      is_upper ? offset : -offset, is_upper, is_late ? 20 : 40});
  }
  return bounds;
}

/// Clocks that are right, drift at up to 300 ppm, were set, or both. The price is the same.
TEST(LikelyClock, is_the_same_if_only_clocks_that_cost_less_than_some_price_are_searched) {
  int right = 0, drifting = 0, set = 0, others = 0;
  for (std::uint64_t seed = 0; seed < 10'000; ++seed) {
    RandomStream random(seed, 2);
    std::vector<Bound> bounds = with_late_ends(random, seed % 2 == 0 ? 5'000'000 : 300'000);
    const auto ppm = static_cast<std::int64_t>(seed % 4 >= 2 ? random.below(300) : 0);
    const std::int64_t step = seed % 8 >= 5 ? 20'000'000 : 0;
    for (Bound& bound : bounds) {
      bound.offset += bound.time * ppm / 1'000'000 + (bound.time > 90'000'000 ? step : 0);
    }
    const LikelyClock cheapest = ClockFinder().find(bounds).value();
    EXPECT_FALSE(ClockFinder().find(bounds, cheapest.bits)) << seed;
    ClockFinder finder;  // with memory of earlier searches
    for (const auto more : {1, static_cast<std::int32_t>(1 + random.below(20)),
                            static_cast<std::int32_t>(1 + random.below(400))}) {
      const auto found = finder.find(bounds, cheapest.bits + more);
      ASSERT_TRUE(found) << seed;
      EXPECT_EQ(found->bits, cheapest.bits) << seed;
      others += found->offsets != cheapest.offsets ? 1 : 0;
    }
    right += std::ranges::count(cheapest.offsets, 0) == 200 ? 1 : 0;
    drifting += cheapest.offsets.back() != cheapest.offsets.front() && step == 0 ? 1 : 0;
    set += cheapest.bits >= ClockPrices::step && step != 0 ? 1 : 0;
  }
  EXPECT_LT(others, 100);  // of 30,000: between pieces that cost the same
  EXPECT_GT(right, 2'000);
  EXPECT_GT(drifting, 1'000);
  EXPECT_GT(set, 2'000);
}

}  // namespace
}  // namespace entrain::spans
