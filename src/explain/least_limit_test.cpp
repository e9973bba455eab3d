// SPDX-License-Identifier: BSD-3-Clause
#include "explain/least_limit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "base/edge_list.hpp"
#include "base/random.hpp"
#include "difference/oracle_testing.hpp"

namespace entrain::explain {
namespace {

constexpr std::uint64_t k_base = 1'000'000'000, k_life = 2'000'000;

/// Two clocks with events from k_base to k_base + k_life; the first one is the reference.
Clocks two_clocks() {
  Clocks run;
  for (const char* const name : {"a", "b"}) {
    Clock& clock = run.clocks.emplace_back();
    clock.name = name;
    clock.events = {k_base, k_base + k_life};
  }
  return run;
}

/// Messages both ways that take no time, while the second clock is ahead.
void talk(EdgeList& list, std::uint64_t at, std::uint64_t ahead) {
  list.add({0, k_base + at}, {1, k_base + at + ahead});
  list.add({1, k_base + at + ahead}, {0, k_base + at});
}

TEST(FindLeastLimit, no_edges_ask_for_nothing) {
  EXPECT_EQ(find_least_limit(two_clocks(), {}, {.mean_ppb = 200'000}), 0);
  EXPECT_EQ(find_least_limit({}, {}, {.mean_ppb = 0}), 0);
}

/// 100 ppm fast over the first half of its life. So beside a mean of 40 ppm it wanders by 60; and
/// a mean of 70 ppm is the least from which it differs by 30.
TEST(FindLeastLimit, is_exact) {
  EdgeList list;
  talk(list, 0, 0);
  talk(list, k_life / 2, 100);
  const auto limit = [&](std::int64_t mean_ppb, std::optional<std::int64_t> wander_ppb) {
    return find_least_limit(two_clocks(), list.view(),
                            {.mean_ppb = mean_ppb, .wander_ppb = wander_ppb});
  };
  // Rates are those by the clock's own stamps: 100 ppm of 100 ppm off.
  EXPECT_NEAR(static_cast<double>(*limit(40'000, std::nullopt)), 60'000, 12);
  EXPECT_NEAR(static_cast<double>(*limit(0, std::nullopt)), 100'000, 12);
  EXPECT_LE(*limit(200'000, std::nullopt), 3);
  EXPECT_EQ(limit(0, 30'000), tl::unexpected(NoLimit::impossible)) << "one rate does not grow";
  EXPECT_NEAR(static_cast<double>(*limit(50'000, 30'000)), 70'000, 12);
  EXPECT_NEAR(static_cast<double>(*limit(90'000, 30'000)), 90'000, 12) << "no smaller one is asked";
}

TEST(FindLeastLimit, impossible_where_no_rates_help) {
  EdgeList list;
  list.add({0, k_base + 5'000}, {1, k_base + 4'000});
  list.add({1, k_base + 4'000}, {0, k_base + 4'990});
  const auto found = find_least_limit(two_clocks(), list.view(), {.mean_ppb = 200'000});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error(), NoLimit::impossible);
  // A clock that is twice as fast is beyond all limits.
  EdgeList fast;
  talk(fast, 0, 0);
  talk(fast, k_life / 2, k_life / 2);
  EXPECT_EQ(find_least_limit(two_clocks(), fast.view(), {.mean_ppb = 200'000}),
            tl::unexpected(NoLimit::impossible));
}

TEST(FindLeastLimit, a_run_may_be_too_long) {
  EdgeList list;
  talk(list, 0, 0);
  talk(list, std::uint64_t{1} << 62, 0);
  EXPECT_EQ(find_least_limit(two_clocks(), list.view(), {.mean_ppb = 200'000}),
            tl::unexpected(NoLimit::too_long));
}

/// One mean is unknown, and the wander beside it is a convex function of it: its least value by
/// shortest paths between all pairs of stamps.
class ByOracle {
 public:
  ByOracle(const EdgeList& list, std::int64_t mean_ppb) : mean_ppb_(mean_ppb) {
    for (std::size_t i = 0; i < list.cause_clock.size(); ++i) {
      const auto event = [](std::uint32_t clock, std::uint64_t time) {
        return difference::Event{clock, static_cast<std::int64_t>(time - k_base)};
      };
      edges_.push_back({event(list.cause_clock[i], list.cause_time[i]),
                        event(list.effect_clock[i], list.effect_time[i]), 0});
    }
  }
  [[nodiscard]] std::int64_t least() const {
    std::int64_t low = -mean_ppb_, high = mean_ppb_;
    while (high - low > 2) {
      const std::int64_t third = (high - low) / 3;
      const bool falls = beside(low + third) > beside(high - third);
      (falls ? low : high) = falls ? low + third : high - third;
    }
    return std::min({beside(low), beside(high), beside((low + high) / 2)});
  }

 private:
  [[nodiscard]] std::int64_t beside(std::int64_t mean) const {
    std::int64_t low = -1, high = std::int64_t{1} << 36;
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (is_feasible(mean, middle) ? high : low) = middle;
    }
    return high;
  }
  [[nodiscard]] bool is_feasible(std::int64_t mean, std::int64_t wander) const {
    const std::vector<difference::ClockLimits> limits{
        {},
        {.rate = {mean - wander, mean + wander},
         .mean = difference::MeanLimit{
             .rates = {mean, mean}, .first = 0, .last = static_cast<std::int64_t>(k_life)}}};
    return difference::Oracle({.clocks = limits, .reference = 0, .edges = edges_}).feasible();
  }

  std::int64_t mean_ppb_;
  std::vector<difference::Edge> edges_;
};

TEST(FindLeastLimit, equals_all_pairs_of_stamps_in_random_tables) {
  constexpr std::int64_t k_mean_ppb = 50'000;
  int wandering = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream random(seed, 6);
    EdgeList list;
    const std::uint64_t offset = random.below(300), rate = random.below(200);
    for (std::uint64_t n = 3 + random.below(8); n > 0; --n) {
      const std::uint64_t sent = 2'000 + random.below(k_life - 4'000);
      const std::uint64_t way = random.below(40) + (random.below(4) == 0 ? 0 : 10);
      const auto shown = [&](std::uint64_t time) { return time + offset + rate * time / k_life; };
      if (random.below(2) == 0) {
        list.add({0, k_base + sent}, {1, k_base + shown(sent + way) - 20});
      } else {
        list.add({1, k_base + shown(sent) + 20}, {0, k_base + sent + way});
      }
    }
    const auto found = find_least_limit(two_clocks(), list.view(), {.mean_ppb = k_mean_ppb});
    const std::int64_t expected = ByOracle(list, k_mean_ppb).least();
    if (!found) {
      EXPECT_EQ(found.error(), NoLimit::impossible);
      EXPECT_GT(expected, 100'000'000);
      continue;
    }
    // Limits are searched with a ppb for the rounding of means over a life.
    EXPECT_GE(*found, expected - 1 - expected / 50);
    EXPECT_LE(*found, expected + 2);
    wandering += *found > 100 ? 1 : 0;
  }
  EXPECT_GT(wandering, 8);
}

}  // namespace
}  // namespace entrain::explain
