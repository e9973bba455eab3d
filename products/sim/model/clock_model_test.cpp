// SPDX-License-Identifier: BSD-3-Clause
#include "sim/model/clock_model.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <gtest/gtest.h>

#include "sim/model/random.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::sim {
namespace {

constexpr std::uint64_t k_seeds = 200;
constexpr std::uint64_t k_first = 1'800'000'000'000;
constexpr std::uint64_t k_span = 60'000'000'000;  // a minute of nanoseconds

SkewAmplitudes usual() {
  return {.offset_ticks = 5e6,
          .drift = 20e-6,
          .wander = 5e-6,
          .wander_period_ticks = static_cast<double>(k_span)};
}

TEST(RandomStream, is_the_same_everywhere) {
  RandomStream random(1, 0);
  EXPECT_EQ(random.next(), RandomStream(1, 0).next());
  // Fixed for all time: recorded traces are named by their seed.
  RandomStream known(42, 7);
  const std::uint64_t a = known.next(), b = known.next();
  EXPECT_EQ(a, 0x6B4C88C89C5DFCDu);
  EXPECT_EQ(b, 0xE4BF542F10ECAF85u);
}

TEST(RandomStream, streams_are_unlike) {
  int equal = 0;
  for (std::uint64_t s = 0; s < 100; ++s) {
    for (std::uint64_t u = 0; u < 100; ++u) {
      equal += RandomStream(s, u).next() == RandomStream(u, s).next() && s != u;
      equal += RandomStream(s, u).next() == RandomStream(s + 1, u).next();
      equal += RandomStream(s, u).next() == RandomStream(s, u + 1).next();
    }
  }
  EXPECT_EQ(equal, 0);
}

TEST(RandomStream, uniform_fills_its_interval_evenly) {
  RandomStream random(3, 3);
  double sum = 0, smallest = 1, largest = -1;
  constexpr int n = 100'000;
  for (int i = 0; i < n; ++i) {
    const double x = random.uniform(-1, 1);
    ASSERT_GE(x, -1);
    ASSERT_LT(x, 1);
    sum += x;
    smallest = std::min(smallest, x);
    largest = std::max(largest, x);
  }
  EXPECT_NEAR(sum / n, 0, 0.01);  // five standard deviations
  EXPECT_LT(smallest, -0.999);
  EXPECT_GT(largest, 0.999);
}

TEST(SkewedClock, depends_on_seed_and_unit_only) {
  const auto map = [](std::uint64_t seed, std::uint64_t unit) {
    return sampled(draw_clock(usual(), seed, unit), k_first, k_first + k_span).value();
  };
  EXPECT_EQ(map(5, 3), map(5, 3));
  EXPECT_FALSE(map(5, 3) == map(5, 4));
  EXPECT_FALSE(map(5, 3) == map(6, 3));
}

TEST(SkewedClock, stays_within_its_amplitudes) {
  const SkewAmplitudes amplitudes = usual();
  double largest_offset = 0, largest_drift = 0, largest_rate = 0;
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
    const SkewedClock clock = draw_clock(amplitudes, seed, seed % 7);
    const double waving = clock.waves[0].rate + clock.waves[1].rate;
    EXPECT_NEAR(waving, amplitudes.wander, 1e-12);
    for (double share = 0; share <= 1; share += 0.01) {
      const double x = share * static_cast<double>(k_span);
      const double wandered =
          amplitudes.wander * std::min(x, 1.3 * amplitudes.wander_period_ticks / std::numbers::pi);
      ASSERT_LE(std::fabs(clock.displacement(x)),
                amplitudes.offset_ticks + amplitudes.drift * x + wandered + 1e-3);
      const double rate = (clock.displacement(x + 1e6) - clock.displacement(x)) / 1e6;
      ASSERT_LE(std::fabs(rate), (amplitudes.drift + amplitudes.wander) * (1 + 1e-6) + 1e-9);
      largest_rate = std::max(largest_rate, std::fabs(rate));
    }
    EXPECT_DOUBLE_EQ(clock.displacement(0), clock.offset_ticks);
    largest_offset = std::max(largest_offset, std::fabs(clock.offset_ticks));
    largest_drift = std::max(largest_drift, std::fabs(clock.drift));
  }
  // The bounds are used, not only kept.
  EXPECT_GT(largest_offset, 0.95 * amplitudes.offset_ticks);
  EXPECT_GT(largest_drift, 0.95 * amplitudes.drift);
  EXPECT_GT(largest_rate, 0.9 * (amplitudes.drift + amplitudes.wander));
}

/// The time that the clock shows minus the value of its formula, at true time k_first + x.
double error_at(const ClockMap& map, const SkewedClock& clock, std::uint64_t x) {
  const std::int64_t moved = map(k_first + x) - static_cast<std::int64_t>(k_first + x);
  return static_cast<double>(moved) - clock.displacement(static_cast<double>(x));
}

TEST(Sampled, follows_the_formula_within_the_stated_error) {
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
    const SkewedClock clock = draw_clock(usual(), seed, 1);
    const ClockMap map = sampled(clock, k_first, k_first + k_span).value();
    ASSERT_TRUE(map.is_monotone());
    for (std::uint64_t x = 0; x <= k_span; x += k_span / 997) {
      ASSERT_LE(std::fabs(error_at(map, clock, x)), k_map_error_ticks)
          << "seed " << seed << " at " << x;
    }
  }
}

TEST(Sampled, long_traces_get_coarser_clocks_and_absurd_ones_are_refused) {
  SkewAmplitudes amplitudes = usual();
  amplitudes.wander_period_ticks = static_cast<double>(k_span) / 4000;
  const SkewedClock fast = draw_clock(amplitudes, 1, 1);
  const ClockMap map = sampled(fast, k_first, k_first + k_span).value();
  EXPECT_EQ(map.knots().size(), k_max_knots);
  const double bound = amplitudes.wander * amplitudes.wander_period_ticks / 80 + k_map_error_ticks;
  for (std::uint64_t x = 0; x <= k_span; x += 999'331) {
    ASSERT_LE(std::fabs(error_at(map, fast, x)), bound);
  }
  amplitudes.wander_period_ticks = static_cast<double>(k_span) / 1e6;
  const auto refused = sampled(draw_clock(amplitudes, 1, 1), k_first, k_first + k_span);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
}

TEST(Sampled, tiny_spans_are_fine) {
  for (const std::uint64_t span : {0u, 1u, 2u, 15u, 16u, 17u, 1000u}) {
    const ClockMap map = sampled(draw_clock(usual(), 9, 2), 100, 100 + span).value();
    EXPECT_TRUE(map.is_monotone());
    EXPECT_GE(map.knots().size(), 2u);
  }
}

TEST(WalkingClock, is_that_of_its_seed_and_unit_on_every_machine) {
  const auto map = [](std::uint64_t seed, std::uint64_t unit) {
    return walking_clock(usual(), seed, unit, k_first, k_first + k_span).value();
  };
  EXPECT_EQ(map(5, 3), map(5, 3));
  EXPECT_FALSE(map(5, 3) == map(5, 4));
  EXPECT_FALSE(map(5, 3) == map(6, 3));
  // The end of the walk alone, computed with Python's integers.
  SkewAmplitudes walk = usual();
  walk.offset_ticks = walk.drift = 0;
  const ClockMap known = walking_clock(walk, 5, 3, k_first, k_first + k_span).value();
  ASSERT_EQ(known.knots().size(), 17u);  // one per step
  EXPECT_EQ(known.knots().back().offset, -181020);
}

TEST(WalkingClock, keeps_within_its_wander_and_shares_offset_and_drift_with_the_other_kind) {
  SkewAmplitudes amplitudes = usual();
  amplitudes.wander_period_ticks = static_cast<double>(k_span) / 8;
  double largest = 0;
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
    const ClockMap map = walking_clock(amplitudes, seed, 1, k_first, k_first + k_span).value();
    const SkewedClock other = draw_clock(amplitudes, seed, 1);
    ASSERT_TRUE(map.is_monotone());
    EXPECT_EQ(map(k_first) - static_cast<std::int64_t>(k_first),
              static_cast<std::int64_t>(std::rint(other.offset_ticks)));
    for (std::size_t i = 1; i < map.knots().size(); ++i) {
      const ClockKnot &a = map.knots()[i - 1], &b = map.knots()[i];
      const double rate =
          static_cast<double>(b.offset - a.offset) / static_cast<double>(b.local - a.local);
      largest = std::max(largest, std::fabs(rate - other.drift));
    }
  }
  const double rounding = 2 / (amplitudes.wander_period_ticks / k_walk_steps);
  EXPECT_LE(largest, amplitudes.wander + rounding);
  EXPECT_GT(largest, 0.95 * amplitudes.wander);
}

TEST(WalkingClock, wanders_as_far_in_a_period_as_stated) {
  // Without the bound the rate of one period differs from 0 by `wander` in the standard deviation;
  // the bound takes some of it, more steps would not.
  const SkewAmplitudes amplitudes = usual();
  double sum = 0;
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
    const ClockMap map = walking_clock(amplitudes, seed, 2, k_first, k_first + k_span).value();
    const ClockKnot &a = map.knots()[4], &b = map.knots()[5];
    const double rate =
        static_cast<double>(b.offset - a.offset) / static_cast<double>(b.local - a.local);
    const double walked = rate - draw_clock(amplitudes, seed, 2).drift;
    sum += walked * walked;
  }
  // Four steps of a quarter of the wander each: half of it, seldom reflected.
  const double rms = std::sqrt(sum / static_cast<double>(k_seeds));
  EXPECT_NEAR(rms / amplitudes.wander, 0.5, 0.08);
}

TEST(WalkingClock, refuses_periods_that_are_too_short) {
  SkewAmplitudes amplitudes = usual();
  for (const double period : {static_cast<double>(k_span) / 5000, 100.0}) {
    amplitudes.wander_period_ticks = period;
    const auto refused = walking_clock(amplitudes, 1, 1, k_first, k_first + k_span);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::usage);
  }
  amplitudes.wander_period_ticks = static_cast<double>(k_span) / 4000;
  EXPECT_TRUE(walking_clock(amplitudes, 1, 1, k_first, k_first + k_span));
}

ClockMap wavy_inner(std::uint64_t seed) {
  RandomStream random(seed, 99);
  std::vector<ClockKnot> knots;
  std::uint64_t t = k_first + 5'000'000;
  for (int i = 0; i < 30; ++i) {
    knots.push_back({t, static_cast<std::int64_t>(random.uniform(-3e6, 3e6))});
    t += 1'000'000'000 + random.next() % 2'000'000'000;
  }
  return ClockMap::from_knots(std::move(knots)).value();
}

TEST(Composed, is_one_map_after_the_other) {
  for (std::uint64_t seed = 0; seed < k_seeds; ++seed) {
    const ClockMap inner = seed % 4 == 0 ? ClockMap() : wavy_inner(seed);
    const ClockMap outer = sampled(draw_clock(usual(), seed, 1), k_first, k_first + k_span).value();
    const ClockMap both = trace::composed(inner, outer).value();
    ASSERT_TRUE(both.is_monotone());
    for (std::uint64_t x = 0; x <= k_span; x += k_span / 499) {
      const auto through = static_cast<std::uint64_t>(inner(k_first + x));
      if (through < k_first || through > k_first + k_span) continue;
      const std::int64_t wanted = outer(through);
      ASSERT_LE(std::abs(both(k_first + x) - wanted), 2) << "seed " << seed << " at " << x;
    }
    for (const ClockKnot& knot : inner.knots()) {
      ASSERT_EQ(both(knot.local), outer(static_cast<std::uint64_t>(inner(knot.local))));
    }
  }
}

TEST(Composed, keeps_order_and_equality_of_neighbouring_ticks) {
  const ClockMap inner = wavy_inner(4);
  SkewAmplitudes strong = usual();
  strong.drift = 0.05;
  strong.wander = 0.05;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const ClockMap both =
        trace::composed(inner,
                        sampled(draw_clock(strong, seed, 0), k_first, k_first + k_span).value())
            .value();
    std::uint64_t merged = 0;
    for (const std::uint64_t start : {k_first, k_first + 5'000'000, k_first + k_span - 20'000}) {
      for (std::uint64_t t = start; t < start + 20'000; ++t) {
        ASSERT_LE(both(t), both(t + 1)) << t;
        merged += both(t) == both(t + 1);
      }
    }
    EXPECT_LE(merged, 60'000 * 0.11);  // never more than the rate is below 1
  }
}

TEST(Composed, of_identities_is_a_plain_shift) {
  const ClockMap shift = ClockMap().shifted(1234);
  const ClockMap both = trace::composed(ClockMap(), shift).value();
  for (const std::uint64_t t : {0ull, 1ull, 1'000'000ull, 1ull << 50}) {
    EXPECT_EQ(both(t), static_cast<std::int64_t>(t) + 1234);
  }
}

TEST(Composed, extends_both_ends_with_a_rate_and_not_with_a_rounding) {
  // Inner knots one tick apart, as a correction ends with: what follows must not be steep.
  const ClockMap inner =
      ClockMap::from_knots({{k_first, 10}, {k_first + 1'000'000, 15}, {k_first + 1'000'001, 15}})
          .value();
  SkewAmplitudes amplitudes = usual();
  amplitudes.wander = 0;
  const ClockMap outer =
      sampled(draw_clock(amplitudes, 2, 1), k_first, k_first + 2'000'000).value();
  const ClockMap both = trace::composed(inner, outer).value();
  for (const std::uint64_t t : {k_first - 500'000, k_first + 3'000'000, k_first + 1'000'000'000}) {
    const std::int64_t wanted = outer(static_cast<std::uint64_t>(inner(t)));
    const double distance = std::fabs(static_cast<double>(t) - static_cast<double>(k_first));
    EXPECT_LE(static_cast<double>(std::abs(both(t) - wanted)), 2 + distance * 2e-6);
  }
}

TEST(ComposedMaps, offsets_out_of_range_are_refused) {
  const ClockMap inner = ClockMap::from_knots({{0, 0}, {~std::uint64_t{0}, 5}}).value();
  const ClockMap outer = ClockMap::from_knots({{0, -(std::int64_t{1} << 61)}, {1'000, 0}}).value();
  const auto both = trace::composed(inner, outer);
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().kind, ErrorKind::input);
}

}  // namespace
}  // namespace entrain::sim
