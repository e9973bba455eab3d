// SPDX-License-Identifier: BSD-3-Clause
// Edges alone give the maps that an archive gives.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <entrain/entrain.hpp>

#include "base/random.hpp"
#include "base/temp_folder_testing.hpp"
#include "engine/archive_records.hpp"
#include "formats/tables/read_clocks.hpp"
#include "formats/tables/read_edges.hpp"

namespace entrain {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> archives_in(const fs::path& folder) {
  std::vector<fs::path> archives;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".otf2") archives.push_back(entry.path());
  }
  return archives;
}

/// Compares the maps by the archive and by its edges.
void expect_same_maps(const fs::path& archive) {
  SCOPED_TRACE(archive.string());
  CorrectOptions plain;
  plain.amortize = false;
  plain.check.threads = 2;
  const auto expected = clock_maps(archive, plain);
  const auto edges = engine::read_edges({archive}, {}, nullptr);
  ASSERT_TRUE(expected && edges) << (expected ? edges.error() : expected.error()).message;
  const auto aligned = align(edges->clocks, edges->list.view(), {}, nullptr);
  ASSERT_TRUE(aligned) << aligned.error().message;
  EXPECT_EQ(aligned->maps, expected->maps);
}

TEST(Edges, give_the_maps_of_every_example) {
  const auto archives = archives_in(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces");
  EXPECT_GE(archives.size(), 6u);
  for (const fs::path& archive : archives) expect_same_maps(archive);
}

TEST(Edges, give_the_maps_of_every_shared_trace) {
  if (!fs::exists(ENTRAIN_SHARED_TRACES_DIR)) {
    std::cout << "skipped: " << ENTRAIN_SHARED_TRACES_DIR << " is not there\n";
    GTEST_SKIP();
  }
  const fs::path traces(ENTRAIN_SHARED_TRACES_DIR);
  for (const fs::path& folder : {traces, traces / "../field"}) {
    if (!fs::exists(folder)) continue;
    for (const fs::path& archive : archives_in(folder)) expect_same_maps(archive);
  }
}

TEST(Edges, come_back_from_tables_of_both_forms) {
  for (const fs::path& archive : archives_in(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces")) {
    SCOPED_TRACE(archive.string());
    const auto edges = engine::read_edges({archive}, {}, nullptr);
    ASSERT_TRUE(edges);
    const auto expected = align(edges->clocks, edges->list.view(), {});
    ASSERT_TRUE(expected);
    for (const char* name : {"edges.csv", "edges.jsonl"}) {
      const TempFolder folder;
      const fs::path file = folder / name;
      const auto written = write_edges(archive, file, {});
      ASSERT_TRUE(written) << written.error().message;
      const std::vector<tables::Source> tables{clocks_file_of(file)};
      auto clocks = tables::read_clocks(tables, 0);
      ASSERT_TRUE(clocks) << clocks.error().message;
      const auto table = tables::read_edges(file, *clocks, 2, nullptr);
      ASSERT_TRUE(table) << table.error().message;
      EXPECT_EQ(table->list.cause_time, edges->list.cause_time);
      EXPECT_EQ(table->list.members.size(), edges->list.members.size());
      const auto aligned = align(*clocks, table->list.view(), {});
      ASSERT_TRUE(aligned) << aligned.error().message;
      EXPECT_EQ(aligned->maps, expected->maps);
    }
  }
}

TEST(Edges, do_not_depend_on_threads) {
  const fs::path archive = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "allops-4";
  const auto edges = engine::read_edges({archive}, {}, nullptr);
  ASSERT_TRUE(edges);
  AlignOptions one, many;
  one.check.threads = 1;
  many.check.threads = 7;
  const auto a = align(edges->clocks, edges->list.view(), one);
  const auto b = align(edges->clocks, edges->list.view(), many);
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->maps, b->maps);
  EXPECT_EQ(a->report.after.violations, b->report.after.violations);
}

TEST(Edges, are_counted_as_the_checker_counts_them) {
  const fs::path archive = fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / "allops-4";
  CheckOptions options;
  options.init_finalize = true;
  const auto report = check(archive, options);
  const auto edges = engine::read_edges({archive}, options, nullptr);
  ASSERT_TRUE(report && edges);
  for (std::size_t k = 0; k < k_edge_kinds; ++k) {
    const EdgeStatistics &expected = report->edges[k], &counted = edges->report.edges[k];
    SCOPED_TRACE(name_of(static_cast<EdgeKind>(k)));
    EXPECT_EQ(counted.count, expected.count);
    EXPECT_EQ(counted.violations, expected.violations);
    EXPECT_EQ(counted.equal, expected.equal);
    ASSERT_EQ(counted.worst.has_value(), expected.worst.has_value());
    if (!expected.worst) continue;
    EXPECT_EQ(counted.worst->margin_ticks, expected.worst->margin_ticks);
  }
  EXPECT_GT(report->violations, 0u);
}

TEST(Edges, are_what_the_library_is_given) {
  // Clock 1 is 50 ticks late: both ways take 10 ticks.
  Clocks clocks;
  clocks.clocks = {{.name = "a"}, {.name = "b"}};
  std::vector<std::uint32_t> from, to;
  std::vector<std::uint64_t> sent, received;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::uint64_t time = 1'000'000 + i * 1'000;
    from.push_back(i % 2), to.push_back(1 - i % 2);
    sent.push_back(i % 2 == 0 ? time : time - 50);
    received.push_back(i % 2 == 0 ? time - 40 : time + 10);
  }
  const Edges edges{
      .cause_clock = from, .cause_time = sent, .effect_clock = to, .effect_time = received};
  AlignOptions options;
  options.check.bounds.wanted = true;
  const auto aligned = align(clocks, edges, options);
  ASSERT_TRUE(aligned) << aligned.error().message;
  const AlignReport& report = aligned->report;
  EXPECT_EQ(report.before.violations, 100u);
  EXPECT_EQ(report.after.violations, 0u);
  EXPECT_EQ(report.after.judgement.verdict, Verdict::clean);
  const std::int64_t apart = aligned->maps[1](1'100'000) - aligned->maps[0](1'100'000);
  EXPECT_NEAR(static_cast<double>(apart), 50, 11);
  ASSERT_TRUE(report.bounds);
  EXPECT_EQ(report.bounds->reason, "");
}

/// Four wall clocks, the first one 10 ms late: three stay, and bounds are those to one of them, so
/// that they prove how wrong the first one is.
TEST(Align, bounds_are_those_to_a_clock_that_a_consensus_leaves_alone) {
  constexpr std::uint64_t k_begin = 1'700'000'000'000'000'000, k_late = 10'000'000;
  Clocks clocks;
  for (const char* name : {"a", "b", "c", "d"}) {
    clocks.clocks.push_back({.name = name, .kind = ClockKind::wall});
  }
  RandomStream random(1, 1);
  std::vector<std::uint32_t> from, to;
  std::vector<std::uint64_t> sent, received;
  for (std::uint64_t i = 0; i < 400; ++i) {
    from.push_back(static_cast<std::uint32_t>(random.below(4)));
    to.push_back(static_cast<std::uint32_t>((from.back() + 1 + random.below(3)) % 4));
    const std::uint64_t time = k_begin + i * 10'000'000;
    sent.push_back(time + (from.back() == 0 ? k_late : 0));
    received.push_back(time + 20'000 + random.below(30'000) + (to.back() == 0 ? k_late : 0));
  }
  AlignOptions options;
  options.check.bounds.wanted = options.check.bounds.rows = true;
  const auto aligned =
      align(clocks,
            {.cause_clock = from, .cause_time = sent, .effect_clock = to, .effect_time = received},
            options);
  ASSERT_TRUE(aligned) << aligned.error().message;
  ASSERT_TRUE(aligned->report.bounds);
  const ClockBounds& bounds = *aligned->report.bounds;
  EXPECT_EQ(bounds.reference, 1u);
  int rows = 0;
  for (const BoundsRow& row : bounds.rows) {
    if (row.location != 0 || !row.bounded) continue;
    ++rows;
    const auto there = static_cast<std::int64_t>(row.local_ticks - k_late);
    EXPECT_LE(row.earliest_ticks, there);
    EXPECT_GE(row.latest_ticks, there);
    EXPECT_LT(row.latest_ticks - row.earliest_ticks, 200'000);
  }
  EXPECT_GT(rows, 0);
}

}  // namespace
}  // namespace entrain
