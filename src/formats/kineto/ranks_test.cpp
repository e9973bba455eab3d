// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/ranks.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "formats/kineto/kineto_testing.hpp"

namespace entrain::kineto {
namespace {

RankFile file_at(const char* path, std::optional<std::uint32_t> told = {}) {
  RankFile file;
  file.path = path;
  file.facts.rank = told;
  file.events = 1;
  return file;
}

/// Each file with its rank, in order of rank; behind them what is told.
std::vector<std::string> order_of(std::vector<RankFile> files) {
  std::vector<std::string> notes, result;
  const auto done = order_ranks(files, notes);
  if (!done) return {done.error().message};
  for (const RankFile& file : files) {
    result.push_back(fmt::format("{} {}", file.rank, file.path.string()));
  }
  result.insert(result.end(), notes.begin(), notes.end());
  return result;
}

using Lines = std::vector<std::string>;

TEST(Ranks, without_any_number_are_the_order_of_names_not_of_folders) {
  const std::string note =
      "not every file says its rank (distributedInfo): ranks are those of the order of the names";
  EXPECT_EQ(order_of({file_at("pa/zed.json"), file_at("pb/yak.json"), file_at("pc/xen.json")}),
            (Lines{"0 pc/xen.json", "1 pb/yak.json", "2 pa/zed.json", note}));
  EXPECT_EQ(order_of({file_at("b/x.json"), file_at("a/x.json")}),
            (Lines{"0 a/x.json", "1 b/x.json", note}));
}

TEST(Ranks, whose_numbers_are_not_unique_are_the_order_of_names_unless_files_are_windows) {
  const auto at = [](const char* path, std::uint64_t first) {
    RankFile file = file_at(path);
    file.clocks[0] = {.events = 1, .first = first, .last = first + 10};
    return file;
  };
  const auto order = order_of({at("node0_worker1.json", 105), at("node0_worker0.json", 100),
                               at("node1_worker2.json", 100), at("node1_worker3.json", 95)});
  ASSERT_EQ(order.size(), 5U) << order[0];
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(order[static_cast<std::size_t>(rank)],
              fmt::format("{} node{}_worker{}.json", rank, rank / 2, rank));
  }
  EXPECT_EQ(order_of({at("w0_b.json", 200), at("w0_a.json", 100), at("w1.json", 100)})[1],
            "0 w0_b.json");
}

TEST(Ranks, are_the_same_once_files_are_unpacked) {
  EXPECT_EQ(order_of({file_at("x.json-b.json"), file_at("x.json.gz")})[0], "0 x.json.gz");
  EXPECT_EQ(order_of({file_at("x.json-b.json"), file_at("x.json")})[0], "0 x.json");
}

TEST(Ranks, inside_files_stay_whatever_others_have) {
  EXPECT_EQ(order_of({file_at("aux.json"), file_at("b.json", 0), file_at("a.json", 2)}),
            (Lines{"0 b.json", "1 aux.json", "2 a.json",
                   "1 of 3 files tells no rank (distributedInfo): theirs are the ranks that are "
                   "left, in the order of names (aux.json)"}));
  EXPECT_EQ(order_of({file_at("x7.json"), file_at("b.json", 0)})[1], "7 x7.json");
  EXPECT_EQ(order_of({file_at("x7.json"), file_at("b.json", 7)})[0], "0 x7.json");
}

TEST_F(Chrome, files_without_an_event_are_ignored_and_named_unless_they_have_a_rank) {
  add(file_of({kernel(1000)}, R"("distributedInfo": {"rank": 1}, )"));
  add(file_of({kernel(1000)}, R"("distributedInfo": {"rank": 0}, )"));
  add(R"({"distributedInfo": {"rank": 2}, "traceEvents": []})");
  add(R"({"traceEvents": []})");
  add(file_of({R"({"ph": "M", "name": "process_name", "ts": 0})"}));
  auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ((*run)->files.size(), 3U);
  EXPECT_EQ((*run)->files[0].filename(), "rank1.json");
  ASSERT_FALSE((*run)->notes.empty());
  EXPECT_EQ((*run)->notes[0],
            "2 of the files hold no events and are left out: rank3.json, rank4.json");
}

TEST_F(Chrome, a_run_without_any_event_is_empty) {
  add(R"({"traceEvents": []})");
  auto run = open();
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ((*run)->events, 0U);
  EXPECT_EQ((*run)->files.size(), 1U);
}

/// Looks at as many ranks as there are files, not at all of the world.
TEST(Ranks, that_are_missing_are_counted_without_a_walk_over_all) {
  RankFile file = file_at("a.json", 1);
  file.rank = 1;
  file.facts.world_size = 0xFFFFFFFF;
  const MissingRanks missing = missing_ranks({file});
  EXPECT_EQ(missing.count, 0xFFFFFFFEU);
  EXPECT_EQ(missing.names, "0, 2, 3, 4, 5, 6, 7, 8, ...");
  file.facts.world_size = 3;
  EXPECT_EQ(missing_ranks({file}).names, "0, 2");
  file.facts.rank = file.rank = 3;
  EXPECT_EQ(missing_ranks({file}).count, 3U);
}

TEST(Ranks, of_a_run_without_ranks_are_doubted) {
  RankFile file = file_at("a.json", 0);
  file.facts.world_size = 0;
  const auto warnings = impossible_ranks({file});
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_EQ(warnings[0],
            "a.json says that its run has no ranks (world_size 0): is it of this run?");
}

}  // namespace
}  // namespace entrain::kineto
