// SPDX-License-Identifier: BSD-3-Clause
#include "difference/at_zero.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "difference/oracle_testing.hpp"

namespace entrain::difference {
namespace {

using ::testing::ElementsAre;

/// Clocks of which the last one is the reference, which has no stamps.
struct Clocks {
  std::vector<ClockLimits> limits;
  std::vector<Edge> edges;

  [[nodiscard]] Constraints view() const {
    return {.clocks = limits,
            .reference = static_cast<std::uint32_t>(limits.size() - 1),
            .edges = edges};
  }
  [[nodiscard]] std::vector<std::uint32_t> order() const {
    std::vector<std::uint32_t> order(limits.size() - 1);
    std::iota(order.begin(), order.end(), 0U);
    return order;
  }
  [[nodiscard]] AtZero find(std::uint64_t most = UINT64_MAX,
                            std::span<const std::uint32_t> weights = {}) const {
    Effort effort{.most = most};
    return find_most_at_zero(System(view()), order(), effort, weights).value();
  }
  /// A message each way that takes `way` ticks; the second clock is `ahead`.
  void talk(std::uint32_t a, std::uint32_t b, std::int64_t at, std::int64_t ahead,
            std::int64_t way = 10) {
    edges.push_back({{a, at}, {b, at + way + ahead}, 0});
    edges.push_back({{b, at + ahead}, {a, at + way}, 0});
  }
  /// True if the clocks of a set can all be right, by all paths between all stamps.
  [[nodiscard]] bool can_stay(std::uint32_t set) const {
    std::vector<Session> sessions;
    for (const Edge& edge : edges) {
      for (const Event& event : {edge.cause, edge.effect}) {
        if ((set >> event.clock & 1) != 0) sessions.push_back({event, 0, 0});
      }
    }
    Constraints constraints = view();
    constraints.sessions = sessions;
    return Oracle(constraints).feasible();
  }
};

Clocks clocks(std::size_t count, std::int64_t rate_ppb = 100'000) {
  return {std::vector<ClockLimits>(count + 1, {.rate = RateRange::within(rate_ppb)}), {}};
}

TEST(MostAtZero, only_the_clock_that_is_wrong_moves) {
  Clocks given = clocks(5);
  for (const std::uint32_t other : {0U, 1U, 3U, 4U}) given.talk(other, 2, 1'000, 300);
  EXPECT_THAT(given.find().stays, ElementsAre(1, 1, 0, 1, 1, 0));
}

TEST(MostAtZero, the_most_trusted_clock_may_be_the_wrong_one) {
  Clocks given = clocks(4);
  for (const std::uint32_t other : {1U, 2U, 3U}) given.talk(0, other, 1'000, 5'000);
  EXPECT_THAT(given.find().stays, ElementsAre(0, 1, 1, 1, 0));
}

/// Clocks 2 to 4 agree, as do 0 and 1; 2 to 4 are parts of one clock.
TEST(MostAtZero, the_largest_weight_stays) {
  Clocks given = clocks(5);
  for (const std::uint32_t part : {2U, 3U, 4U}) {
    for (const std::uint32_t other : {0U, 1U}) given.talk(other, part, 1'000, 300);
  }
  EXPECT_THAT(given.find().stays, ElementsAre(0, 0, 1, 1, 1, 0));
  const std::vector<std::uint32_t> weights{6, 6, 6, 1, 1};
  EXPECT_THAT(given.find(UINT64_MAX, weights).stays, ElementsAre(1, 1, 0, 0, 0, 0));
}

/// Clocks 0 and 2 never talk, but 1, which has to move, finds no place between them.
TEST(MostAtZero, clocks_that_move_tie_others) {
  Clocks given = clocks(3);
  given.talk(0, 1, 1'000, 20);
  given.talk(1, 2, 1'100, 20);
  EXPECT_THAT(given.find().stays, ElementsAre(1, 0, 0, 0));
  given.edges.pop_back();  // back from 2 to 1
  EXPECT_THAT(given.find().stays, ElementsAre(1, 0, 1, 0));
}

TEST(MostAtZero, clocks_without_messages_stay) {
  EXPECT_THAT(clocks(3).find().stays, ElementsAre(1, 1, 1, 0));
}

TEST(MostAtZero, a_search_ends_with_its_effort) {
  Clocks given = clocks(40);
  for (std::uint32_t c = 1; c < 40; ++c) given.talk(0, c, c * 1'000, c % 3 == 0 ? 100 : 0);
  EXPECT_TRUE(given.find().complete);
  EXPECT_FALSE(given.find(700).complete);
}

TEST(MostAtZero, without_any_clocks_there_is_a_certificate) {
  Clocks given = clocks(2);
  given.talk(0, 1, 1'000, 0, -10);
  Effort effort;
  const auto found = find_most_at_zero(System(given.view()), given.order(), effort);
  ASSERT_FALSE(found);
  EXPECT_TRUE(found.error().certificate);
}

/// Some clocks are off, others not; some messages go one way only.
Clocks random_clocks(RandomStream& random, std::uint64_t most) {
  const std::uint64_t count = 2 + random.below(most - 1);
  Clocks given = clocks(count, static_cast<std::int64_t>(random.below(4) * 10'000'000));
  std::vector<std::int64_t> ahead(count);
  for (std::int64_t& one : ahead) {
    if (random.below(2) == 0) one = static_cast<std::int64_t>(random.below(200)) - 100;
  }
  for (std::uint64_t n = 2 + random.below(3 * count); n > 0; --n) {
    const auto from = static_cast<std::uint32_t>(random.below(count));
    const auto to = static_cast<std::uint32_t>((from + 1 + random.below(count - 1)) % count);
    const auto sent = 1'000 + static_cast<std::int64_t>(random.below(1'000));
    const auto way = static_cast<std::int64_t>(random.below(60));
    given.edges.push_back({{from, sent + ahead[from]}, {to, sent + way + ahead[to]}, 0});
  }
  return given;
}

TEST(MostAtZero, is_the_largest_set_of_all) {
  int moved = 0, tied = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    SCOPED_TRACE(n);
    RandomStream random(31, n);
    const Clocks given = random_clocks(random, 6);
    const AtZero at_zero = given.find();
    const std::vector<char>& stays = at_zero.stays;
    std::uint32_t found = 0;
    int most = 0, sets = 0;
    for (std::uint32_t c = 0; c + 1 < stays.size(); ++c) found |= stays[c] != 0 ? 1U << c : 0;
    for (std::uint32_t set = 0; set < 1U << (stays.size() - 1); ++set) {
      if (std::popcount(set) < most || !given.can_stay(set)) continue;
      sets = std::popcount(set) > most ? 1 : sets + 1;
      most = std::popcount(set);
    }
    ASSERT_EQ(std::popcount(found), most);
    ASSERT_TRUE(given.can_stay(found));
    ASSERT_EQ(at_zero.is_only, sets <= 1);
    tied += at_zero.is_only ? 0 : 1;
    moved += static_cast<std::size_t>(most) + 1 < stays.size() ? 1 : 0;
  }
  EXPECT_GT(moved, 1'000);
  EXPECT_GT(tied, 500);
}

/// Blocks of clocks give what single clocks give.
TEST(MostAtZero, more_clocks_stay_one_after_the_other) {
  for (std::uint64_t n = 0; n < 300; ++n) {
    SCOPED_TRACE(n);
    RandomStream random(32, n);
    Clocks given = random_clocks(random, 10);
    given.limits.resize(given.limits.size() + 10, given.limits.front());  // clocks that all stay
    std::uint32_t expected = 0;
    for (const std::uint32_t clock : given.order()) {
      if (given.can_stay(expected | 1U << clock)) expected |= 1U << clock;
    }
    std::uint32_t found = 0;
    const std::vector<char> stays = given.find().stays;
    for (std::uint32_t c = 0; c < stays.size(); ++c) found |= stays[c] != 0 ? 1U << c : 0;
    if (given.order().size() > 16) {
      ASSERT_EQ(found, expected);
    }
  }
}

TEST(AtZero, conflicts_of_two_clocks_are_found_once) {
  constexpr std::uint32_t k_clocks = 14, k_wrong = 4;
  Clocks all = clocks(k_clocks);
  const auto ahead = [](std::uint32_t clock) {
    return clock % 3 == 2 ? std::int64_t{1000} * clock : 0;
  };
  for (std::uint32_t a = 0; a < k_clocks; ++a) {
    for (std::uint32_t b = a + 1; b < k_clocks; ++b) {
      for (int i = 0; i < 4; ++i) {
        const std::int64_t at = std::int64_t{100'000} * (a + b + 28U * static_cast<unsigned>(i));
        all.talk(a, b, at + ahead(a), ahead(b) - ahead(a));
      }
    }
  }
  Effort effort;
  const AtZero found = find_most_at_zero(System(all.view()), all.order(), effort).value();
  EXPECT_EQ(std::accumulate(found.stays.begin(), found.stays.end(), 0U), k_clocks - k_wrong);
  EXPECT_LT(effort.spent, 80 * all.edges.size());
}

}  // namespace
}  // namespace entrain::difference
