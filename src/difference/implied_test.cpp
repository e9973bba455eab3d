// SPDX-License-Identifier: BSD-3-Clause
#include "difference/system.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "difference/at_zero.hpp"
#include "difference/oracle_testing.hpp"

namespace entrain::difference {
namespace {

/// Clocks, the last of which is the reference, and edges between the others.
struct Talk {
  std::vector<ClockLimits> limits;
  std::vector<Edge> edges;

  [[nodiscard]] Constraints view(std::span<const Edge> some) const {
    return {.clocks = limits,
            .reference = static_cast<std::uint32_t>(limits.size() - 1),
            .edges = some};
  }
};

/// Some messages of two to four clocks, which drift; every third run they contradict each other.
Talk random_talk(RandomStream& random, std::int64_t rate_ppb) {
  Talk talk;
  const auto clocks = static_cast<std::uint32_t>(2 + random.below(3));
  talk.limits.assign(clocks + 1, {.rate = RateRange::within(rate_ppb)});
  std::vector<std::int64_t> offset, rate;
  for (std::uint32_t c = 0; c < clocks; ++c) {
    offset.push_back(static_cast<std::int64_t>(random.below(2'000)));
    rate.push_back(static_cast<std::int64_t>(random.below(3)) - 1);
  }
  const bool is_wrong = random.below(3) == 0;
  const std::size_t count = 2 + random.below(14);
  for (std::size_t i = 0; i < count; ++i) {
    const auto from = static_cast<std::uint32_t>(random.below(clocks));
    const auto to = (from + 1 + static_cast<std::uint32_t>(random.below(clocks - 1))) % clocks;
    const auto sent = static_cast<std::int64_t>(random.below(20) * 1'000);
    const auto way = static_cast<std::int64_t>(random.below(300)) - (is_wrong ? 60 : 0);
    const auto shown = [&](std::uint32_t c, std::int64_t t) {
      return 3'000 + t + offset[c] + rate[c] * t * rate_ppb / 2 / 1'000'000'000;
    };
    talk.edges.push_back({{from, shown(from, sent)},
                          {to, std::max<std::int64_t>(shown(to, sent + way), 0)},
                          static_cast<std::int64_t>(random.below(20))});
  }
  return talk;
}

TEST(Implied, tighter_messages_nearby_imply_others) {
  const std::vector<ClockLimits> limits(3, {.rate = RateRange::within(100'000)});
  const std::vector<Edge> edges{{{0, 0}, {1, 20'000}},
                                {{0, 1'000'000}, {1, 1'010'000}},
                                {{0, 2'000'000}, {1, 2'010'199}},
                                {{0, 3'000'000}, {1, 3'010'410}},
                                {{1, 1'000'000}, {0, 1'020'000}}};
  // Within 1 ms both clocks together change by 200 ns.
  const BigVector<Edge> expected{edges[1], edges[2], edges[4]};
  EXPECT_EQ(without_implied(edges, limits), expected);
  EXPECT_TRUE(is_implied_by(edges[0], edges[1], limits[0].rate, limits[1].rate));
  EXPECT_FALSE(is_implied_by(edges[1], edges[0], limits[0].rate, limits[1].rate));
  EXPECT_TRUE(is_implied_by(edges[3], edges[1], limits[0].rate, limits[1].rate));
}

TEST(Implied, of_equal_edges_one_is_left) {
  const std::vector<ClockLimits> limits(3, {.rate = RateRange::within(100'000)});
  const std::vector<Edge> edges(3, {{0, 5}, {1, 7}, 1});
  EXPECT_EQ(without_implied(edges, limits).size(), 1U);
  EXPECT_TRUE(without_implied({}, limits).empty());
}

/// Feasibility and the tightest bounds of all stamps that are left, by all paths.
TEST(Implied, the_others_have_the_same_solutions) {
  int feasible = 0, smaller = 0;
  for (int run = 0; run < 10'000; ++run) {
    RandomStream random(41, static_cast<std::uint64_t>(run));
    const Talk talk = random_talk(random, 10'000'000);
    const BigVector<Edge> some = without_implied(talk.edges, talk.limits);
    const Oracle all(talk.view(talk.edges)), left(talk.view(some));
    ASSERT_EQ(all.feasible(), left.feasible()) << run;
    smaller += some.size() < talk.edges.size() ? 1 : 0;
    if (!all.feasible()) continue;
    ++feasible;
    // The reference is free: a session at one stamp ties it.
    const Session tie{some.front().cause, 0, 0};
    Constraints of_all = talk.view(talk.edges), of_some = talk.view(some);
    of_all.sessions = of_some.sessions = std::span(&tie, 1);
    const Oracle tied(of_all), tied_some(of_some);
    for (const auto& [event, index] : tied_some.events()) {
      ASSERT_EQ(tied.upper(event), tied_some.upper(event)) << run;
      ASSERT_EQ(tied.lower(event), tied_some.lower(event)) << run;
    }
  }
  EXPECT_GT(feasible, 3'000);
  EXPECT_LT(feasible, 9'500);
  EXPECT_GT(smaller, 5'000);
}

TEST(Implied, the_others_let_the_same_clocks_stay_at_the_same_least_rate) {
  for (int run = 0; run < 2'000; ++run) {
    RandomStream random(42, static_cast<std::uint64_t>(run));
    const Talk talk = random_talk(random, 10'000'000);
    const BigVector<Edge> some = without_implied(talk.edges, talk.limits);
    std::vector<std::uint32_t> order(talk.limits.size() - 1);
    std::iota(order.begin(), order.end(), 0U);
    const auto solve = [&](std::span<const Edge> edges) {
      Effort effort;
      System system(talk.view(edges));
      const auto least = set_least_rate(system, effort, {0, 10'000'000});
      const auto zero = find_most_at_zero(System(talk.view(edges)), order, effort);
      return std::pair(least ? least->ppb : -1, zero ? zero->stays : std::vector<char>());
    };
    ASSERT_EQ(solve(talk.edges), solve(some)) << run;
  }
}

}  // namespace
}  // namespace entrain::difference
