// SPDX-License-Identifier: BSD-3-Clause
#include "explain/staying.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>

#include "base/edge_list.hpp"
#include "base/random.hpp"
#include "difference/oracle_testing.hpp"

namespace entrain::explain {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(VotingParts, each_clock_votes_once_by_the_part_with_most_evidence) {
  EdgeList list;
  for (const std::uint32_t part : {1U, 2U, 2U, 3U}) list.add({0, 100}, {part, 200});
  EXPECT_THAT(voting_parts(4, list.view(), {}), ElementsAre(1, 1, 1, 1));
  const std::vector<std::uint32_t> set_back{2};
  EXPECT_THAT(voting_parts(4, list.view(), {.set_back = set_back}), ElementsAre(2, 2, 1, 2));
  const std::vector<std::uint32_t> clock_of{0, 1, 1, 1};
  EXPECT_THAT(voting_parts(4, list.view(), {.clock_of = clock_of}), ElementsAre(2, 0, 1, 0));
  EXPECT_THAT(voting_parts(0, EdgeList().view(), {}), IsEmpty());
}

/// Two right clocks, and three parts of one that is 5,000 ticks ahead and was set twice. All parts
/// talk to both.
TEST(KeepMostClocks, parts_of_a_clock_do_not_outvote_two_others) {
  Clocks clocks{.name = "run", .resolution_hz = 1'000'000'000, .clocks = {}};
  for (const char* name : {"a", "b", "c", "c, set", "c, set, set"}) {
    clocks.clocks.push_back({.name = name});
  }
  EdgeList list;
  for (std::uint32_t part = 2; part < 5; ++part) {
    for (std::uint64_t t = part * 100'000; t < part * 100'000 + 50'000; t += 10'000) {
      for (const std::uint32_t other : {0U, 1U}) {
        list.add({other, t}, {part, t + 5'010});
        list.add({part, t + 5'020}, {other, t + 30});
      }
      list.add({0, t + 100}, {1, t + 110});
      list.add({1, t + 120}, {0, t + 130});
    }
  }
  std::size_t aligned = 0;
  const AlignGroup align = [&](const Clocks& group, const Edges&) {
    aligned = group.clocks.size() - 1;
    return Result<std::vector<ClockMap>>(std::vector<ClockMap>(group.clocks.size()));
  };
  const std::vector<std::uint32_t> clock_of{0, 1, 2, 2, 2};
  const auto kept =
      keep_most_clocks(clocks, list.view(), 100'000, {.clock_of = clock_of}, align).value();
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->kept, 2U);
  EXPECT_EQ(aligned, 3U);
}

/// Clocks c and d are 300 ticks apart. Only messages without much delay tell which one is wrong.
TEST(KeepMostClocks, knows_whether_other_clocks_could_stay) {
  Clocks clocks{.name = "run", .resolution_hz = 1'000'000'000, .clocks = {}};
  for (const char* name : {"a", "b", "c", "d"}) clocks.clocks.push_back({.name = name});
  const AlignGroup align = [](const Clocks& group, const Edges&) {
    return Result<std::vector<ClockMap>>(std::vector<ClockMap>(group.clocks.size()));
  };
  for (const std::uint64_t delay : {10U, 1'000U}) {
    EdgeList list;
    const auto talk = [&](std::uint32_t a, std::uint32_t b, std::uint64_t way,
                          std::uint64_t ahead) {
      list.add({a, 10'000}, {b, 10'000 + way + ahead});
      list.add({b, 10'000 + ahead}, {a, 10'000 + way});
    };
    talk(0, 1, 10, 0);
    for (const std::uint32_t other : {0U, 1U}) talk(other, 2, delay, 0);
    talk(2, 3, 10, 300);
    const auto kept = keep_most_clocks(clocks, list.view(), 100'000, {}, align).value();
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->kept, 3U);
    EXPECT_EQ(kept->are_known, delay == 10);
  }
}

/// Most clocks of a table that can be right together, by all paths for all sets of clocks.
std::size_t most_by_all_paths(std::size_t count, const EdgeList& list, std::int64_t rate_ppb) {
  const std::vector<difference::ClockLimits> limits(
      count + 1, {.rate = difference::RateRange::within(rate_ppb)});
  std::vector<difference::Edge> edges;
  for (std::size_t i = 0; i < list.cause_clock.size(); ++i) {
    edges.push_back({{list.cause_clock[i], static_cast<std::int64_t>(list.cause_time[i])},
                     {list.effect_clock[i], static_cast<std::int64_t>(list.effect_time[i])}});
  }
  std::size_t most = 0;
  for (std::uint32_t set = 0; set < 1U << count; ++set) {
    std::vector<difference::Session> at_zero;
    for (const auto& [cause, effect, delay] : edges) {
      for (const difference::Event& event : {cause, effect}) {
        if ((set >> event.clock & 1) != 0) at_zero.push_back({event, 0, 0});
      }
    }
    const difference::Oracle oracle({.clocks = limits,
                                     .reference = static_cast<std::uint32_t>(count),
                                     .edges = edges,
                                     .sessions = at_zero});
    if (oracle.feasible()) most = std::max<std::size_t>(most, std::popcount(set));
  }
  return most;
}

/// Also where single edges tell that fewer than half of the clocks can stay: nothing is searched.
TEST(KeepMostClocks, keeps_as_many_as_can_be_right_if_they_are_half_of_all) {
  const AlignGroup align = [](const Clocks& group, const Edges&) {
    return Result<std::vector<ClockMap>>(std::vector<ClockMap>(group.clocks.size()));
  };
  int kept_some = 0;
  for (std::uint64_t run = 0; run < 1'000; ++run) {
    RandomStream random(51, run);
    const auto count = static_cast<std::uint32_t>(2 + random.below(4));
    const bool are_all_wrong = run % 2 == 1;
    Clocks clocks{.name = "run", .resolution_hz = 1'000'000'000, .clocks = {}};
    std::vector<std::uint64_t> ahead;
    for (std::uint32_t c = 0; c < count; ++c) {
      clocks.clocks.push_back({.name = std::to_string(c)});
      ahead.push_back(are_all_wrong ? random.below(600) : random.below(2) * random.below(60));
    }
    EdgeList list;
    for (std::uint64_t edge = 2 + random.below(are_all_wrong ? 16 : 9); edge > 0; --edge) {
      const auto from = static_cast<std::uint32_t>(random.below(count));
      const auto to = (from + 1 + static_cast<std::uint32_t>(random.below(count - 1))) % count;
      const std::uint64_t sent = random.below(30) * 1'000;
      list.add({from, sent + ahead[from]}, {to, sent + ahead[to] + random.below(40)});
    }
    const auto kept = keep_most_clocks(clocks, list.view(), 1'000'000, {}, align).value();
    const std::size_t most = most_by_all_paths(count, list, 1'000'000);
    ASSERT_EQ(kept.has_value(), 2 * most >= count) << run;
    if (!kept) continue;
    ++kept_some;
    ASSERT_EQ(kept->kept, most) << run;
  }
  EXPECT_GT(kept_some, 500);
  EXPECT_LT(kept_some, 900);
}

}  // namespace
}  // namespace entrain::explain
