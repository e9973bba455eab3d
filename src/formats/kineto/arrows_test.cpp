// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <fmt/format.h>

#include "base/edge_list.hpp"
#include "formats/kineto/kineto_testing.hpp"

namespace entrain::kineto {
namespace {

std::string arrow(char phase, double time, int id, const char* category = "rpc") {
  return fmt::format(
      R"({{"ph": "{}", "cat": "{}", "name": "message", "id": {}, "pid": 1, "tid": 1, )"
      R"("ts": {:.3f}, "bp": "e"}})",
      phase, category, id, time);
}

TEST_F(Chrome, arrows_between_files_are_messages) {
  add(file_of({arrow('s', 1000, 1), arrow('f', 4000, 2)}));
  add(file_of({arrow('f', 900, 1), arrow('s', 3000, 2)}));
  const auto run = open();
  ASSERT_TRUE(run);
  const EdgeList& list = (*run)->list;
  ASSERT_EQ(list.cause_clock.size(), 2U);
  for (std::size_t e = 0; e < 2; ++e) {
    const bool is_first = list.cause_clock[e] == 0;
    EXPECT_EQ(list.cause_time[e], is_first ? 1'000'000U : 3'000'000U);
    EXPECT_EQ(list.effect_time[e], is_first ? 900'000U : 4'000'000U);
  }
  EXPECT_EQ((*run)->coverage.receives, 2U);
  EXPECT_EQ((*run)->coverage.paired, 2U);
}

TEST_F(Chrome, an_arrow_at_a_time_that_the_profiler_did_not_know_is_none) {
  add(file_of({arrow('s', 1e15, 1), arrow('s', 1e15 + 9, 2)}));
  add(file_of({arrow('f', 0, 1), arrow('f', 1e15 + 20, 2)}));
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->list.effect_time, std::vector<std::uint64_t>{1'000'000'000'000'020'000});
}

/// A step stands between the start and the end.
TEST_F(Chrome, an_arrow_goes_by_way_of_its_steps) {
  add(file_of({arrow('s', 1000, 1)}));
  add(file_of({arrow('t', 2000, 1)}));
  add(file_of({arrow('f', 3000, 1)}));
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_EQ((*run)->list.cause_clock, (std::vector<std::uint32_t>{0, 1}));
  EXPECT_EQ((*run)->list.effect_clock, (std::vector<std::uint32_t>{1, 2}));
}

/// Files of one profiler number their arrows alike.
TEST_F(Chrome, arrows_inside_files_are_no_messages) {
  for (const char* category : {"rpc", "ac2g"}) {
    files_.clear();
    add(file_of({arrow('s', 1000, 1, category), arrow('f', 1100, 1, category)}));
    add(file_of({arrow('s', 2000, 1, category), arrow('f', 2100, 1, category)}));
    const auto run = open();
    ASSERT_TRUE(run);
    EXPECT_TRUE((*run)->list.cause_clock.empty());
    EXPECT_EQ((*run)->coverage.receives, 0U);
  }
  files_.clear();
  add(file_of({arrow('s', 1000, 1, "ac2g")}));  // the window ends before the kernel begins
  add(file_of({arrow('f', 900, 1, "ac2g")}));
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.cause_clock.empty());
}

/// Profilers number arrows from 1 on; a window cuts some of them off.
TEST_F(Chrome, arrows_that_a_window_cuts_off_are_no_messages) {
  add(file_of({arrow('s', 1000, 1), arrow('f', 1100, 1), arrow('s', 1200, 2), arrow('f', 1300, 2),
               arrow('s', 1900, 3)}));
  add(file_of({arrow('f', 800, 3), arrow('s', 1000, 4), arrow('f', 1100, 4), arrow('s', 1200, 5),
               arrow('f', 1300, 5)}));
  const auto run = open();
  ASSERT_TRUE(run);
  EXPECT_TRUE((*run)->list.cause_clock.empty());
}

TEST_F(Chrome, arrows_of_one_id_are_paired_in_order_of_two_clocks_only) {
  for (const bool has_third : {false, true}) {
    files_.clear();
    add(file_of({arrow('s', 1000, 1), arrow('s', 2000, 1)}));
    add(file_of({arrow('f', 1500, 1), arrow('f', 2500, 1)}));
    if (has_third) add(file_of({arrow('s', 1200, 1)}));
    const auto run = open();
    ASSERT_TRUE(run);
    EXPECT_EQ((*run)->list.cause_clock.size(), has_third ? 0U : 2U);
    EXPECT_EQ((*run)->coverage.ambiguous, has_third ? 2U : 0U);
  }
}

/// Who issues a marker asks before the other one writes it, and hears of it later.
TEST_F(Chrome, a_clock_sync_marker_is_a_round_trip) {
  const auto marker = [](double time, const std::string& issued) {
    return fmt::format(R"({{"ph": "c", "cat": "__metadata", "name": "clock_sync", "pid": 1, )"
                       R"("tid": 1, "ts": {:.3f}, "args": {{"sync_id": "a"{}}}}})",
                       time, issued);
  };
  add(file_of({marker(1200, R"(, "issue_ts": 1000.5)")}));
  add(file_of({marker(5100, "")}));
  const auto run = open();
  ASSERT_TRUE(run);
  const EdgeList& list = (*run)->list;
  ASSERT_EQ(list.cause_clock.size(), 2U);
  for (std::size_t e = 0; e < 2; ++e) {
    const bool asks = list.cause_clock[e] == 0;
    EXPECT_EQ(list.cause_time[e], asks ? 1'000'500U : 5'100'000U);
    EXPECT_EQ(list.effect_time[e], asks ? 5'100'000U : 1'200'000U);
  }
  const auto written = folder_.path() / "written";
  std::filesystem::create_directory(written);
  const std::vector<ClockMap> maps{ClockMap().shifted(7'000), ClockMap()};
  ASSERT_TRUE((*run)->write(written, maps));
  const auto again = (*run)->read_back(written, maps);
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->list.cause_time[list.cause_clock[0] == 0 ? 0 : 1], 1'007'500U);
}

}  // namespace
}  // namespace entrain::kineto
