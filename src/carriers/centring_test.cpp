// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/centring.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "base/random.hpp"

namespace entrain::carriers {
namespace {

constexpr std::int64_t k_begin = 1'000'000;

/// Launches and waits, 1,000 ticks apart: kernels begin 50 ticks or more after their launch and end
/// as much before the call that waits. `ahead`: of the clock, at a time.
template <class Ahead>
Inner launches_and_waits(int count, const Ahead& ahead) {
  Inner inner;
  for (int n = 0; n < count; ++n) {
    const std::int64_t t = k_begin + std::int64_t{n} * 1'000, late = 50 + n % 7 * 3;
    const auto shown = [&](std::int64_t time) { return time + ahead(time); };
    inner.add({.host = t, .own = shown(t + late), .is_upper = false});
    inner.add({.host = t + 500 + late, .own = shown(t + 500), .is_upper = true});
  }
  return inner;
}

TEST(Centring, follows_a_clock_that_moves_between_its_limits) {
  const auto ahead = [](std::int64_t time) {
    return std::llround(30 * std::sin(static_cast<double>(time - k_begin) / 50'000));
  };
  const Inner inner = launches_and_waits(400, ahead);
  for (const auto& map : {centre(inner), centre_if_it_moves(inner)}) {
    ASSERT_TRUE(map);
    for (std::int64_t t = k_begin + 10'000; t < k_begin + 390'000; t += 1'000) {
      const auto shown = static_cast<std::uint64_t>(t + ahead(t));
      EXPECT_LE(std::abs((*map)(shown)-t), 6) << t;
    }
  }
}

TEST(Centring, leaves_a_clock_that_does_not_move) {
  const auto map = centre_if_it_moves(launches_and_waits(400, [](std::int64_t) { return 0; }));
  ASSERT_TRUE(map);
  EXPECT_TRUE(map->is_identity());
}

TEST(Centring, needs_limits_on_both_sides) {
  Inner waits;
  for (const Limit& one : launches_and_waits(40, [](std::int64_t) { return 0; }).upper) {
    waits.upper.push_back(one);
  }
  for (const Inner& few :
       {Inner(), waits, launches_and_waits(4, [](std::int64_t) { return 20; })}) {
    const auto map = centre(few);
    ASSERT_TRUE(map);
    EXPECT_TRUE(map->is_identity());
  }
}

/// Edges of records that belong to no clock.
TEST(Centring, ends_with_increasing_maps_or_none_whatever_edges_demand) {
  for (std::uint64_t seed = 0; seed < 2'000; ++seed) {
    RandomStream random(seed, 1);
    const auto any = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random.next() % static_cast<std::uint64_t>(most));
    };
    Inner inner;
    const std::int64_t count = any(60), range = std::int64_t{1} << any(40);
    for (std::int64_t n = 0; n < count; ++n) {
      const std::int64_t cause = k_begin + any(1'000 + range),
                         effect = k_begin + any(1'000 + range);
      const bool is_upper = any(2) != 0;
      inner.add({is_upper ? effect : cause, is_upper ? cause : effect, is_upper});
    }
    const auto map = centre(inner);
    EXPECT_TRUE(!map || map->is_monotone()) << seed;
  }
}

/// Launches alone show a drift if it is even. A queue that grows is no drift.
TEST(Centring, launches_show_an_even_drift) {
  for (const double rate : {-300e-6, -20e-6, 40e-6, 400e-6}) {
    RandomStream random(7, 1);
    Inner inner;
    for (int n = 0; n < 400; ++n) {
      const std::int64_t launch = k_begin + std::int64_t{n} * 1'000'000;
      const auto kernel = launch + 50 + static_cast<std::int64_t>(random.below(2'000));
      const std::int64_t own =
          kernel - 9'000'000 + std::llround(rate * static_cast<double>(kernel));
      inner.add({.host = launch, .own = own + 20'000'000, .is_upper = false});
    }
    const auto map = drift_of_one_sided(inner);
    ASSERT_TRUE(map);
    for (const Tie& tie : inner.ties) {
      const std::int64_t late = (*map)(static_cast<std::uint64_t>(tie.own)) - tie.host;
      EXPECT_GE(late, 0) << rate;
      EXPECT_LE(late, 4'000) << rate;
    }
  }
  Inner queue, still;
  RandomStream random(8, 1);
  for (int n = 0; n < 400; ++n) {
    const std::int64_t launch = k_begin + std::int64_t{n} * 1'000'000;
    const auto waits = static_cast<std::int64_t>(random.below(2'000));
    queue.add({.host = launch, .own = launch + n * 9'000 + waits, .is_upper = false});
    still.add({.host = launch, .own = launch + waits, .is_upper = false});
  }
  for (const Inner& inner : {queue, still}) {
    const auto map = drift_of_one_sided(inner);
    ASSERT_TRUE(map);
    EXPECT_TRUE(map->is_identity());
  }
}

}  // namespace
}  // namespace entrain::carriers
