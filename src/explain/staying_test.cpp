// SPDX-License-Identifier: BSD-3-Clause
#include "explain/staying.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/edge_list.hpp"

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

}  // namespace
}  // namespace entrain::explain
