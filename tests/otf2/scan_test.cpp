// SPDX-License-Identifier: BSD-3-Clause
// The product's scanner against the OTF2 library: same definitions, same skeletons, same times.
#include <gtest/gtest.h>

#include <cstdio>

#include <entrain/clock_map.hpp>

#include "formats/otf2/read/archive.hpp"
#include "support/all_records.hpp"
#include "support/compare_traces.hpp"
#include "support/files.hpp"
#include "support/oracle.hpp"
#include "support/otf2_print.hpp"
#include "support/test_archives.hpp"

namespace entrain::test {
namespace {

class Scan : public testing::TestWithParam<TestArchive> {
 protected:
  void SetUp() override {
    anchor_ = GetParam().make(scratch_.path());
    auto opened = otf2::Archive::open(anchor_);
    ASSERT_TRUE(opened) << opened.error().message;
    archive_ = std::move(*opened);
  }

  [[nodiscard]] std::size_t location_count() const {
    return archive_->definitions().locations.size();
  }

  TempFolder scratch_;
  std::filesystem::path anchor_;
  std::unique_ptr<otf2::Archive> archive_;
};

TEST_P(Scan, definitions_are_those_of_the_library) {
  const auto expected = library_trace(anchor_);
  EXPECT_EQ(difference(archive_->definitions(), expected.definitions), "");
}

TEST_P(Scan, skeletons_are_those_of_the_library) {
  const auto expected = library_trace(anchor_);
  ASSERT_EQ(location_count(), expected.locations.size());
  for (LocationIndex i = 0; i < location_count(); ++i) {
    const auto skeleton = archive_->scan(i);
    ASSERT_TRUE(skeleton) << skeleton.error().message;
    EXPECT_EQ(difference(*skeleton, expected.locations[i]), "") << "location " << i;
    EXPECT_FALSE(skeleton->truncated);
    EXPECT_FALSE(skeleton->event_file_missing);
    EXPECT_EQ(skeleton->unknown_records, 0u);
    EXPECT_EQ(skeleton->decreasing, "");
  }
}

TEST_P(Scan, together_is_as_alone) {
  std::vector<LocationIndex> backwards;
  for (auto l = static_cast<LocationIndex>(location_count()); l-- > 0;) backwards.push_back(l);
  const auto together = archive_->scan_all(backwards, 3, nullptr);
  ASSERT_TRUE(together) << together.error().message;
  ASSERT_EQ(together->size(), location_count());
  for (std::size_t i = 0; i < backwards.size(); ++i) {
    const auto alone = archive_->scan(backwards[i]);
    ASSERT_TRUE(alone) << alone.error().message;
    EXPECT_EQ(difference((*together)[i], *alone), "") << "location " << i;
    EXPECT_EQ((*together)[i].definition_file_missing, alone->definition_file_missing);
    EXPECT_EQ((*together)[i].event_file_missing, alone->event_file_missing);
  }
}

TEST_P(Scan, clock_offsets_give_the_times_of_the_library) {
  const auto raw = library_times(anchor_, false);
  const auto expected = library_times(anchor_, true);
  ASSERT_EQ(raw.size(), location_count());
  for (LocationIndex i = 0; i < location_count(); ++i) {
    const auto skeleton = archive_->scan(i);
    ASSERT_TRUE(skeleton) << skeleton.error().message;
    std::vector<ClockKnot> knots;
    for (const auto& offset : skeleton->clock_offsets)
      knots.push_back({offset.time, offset.offset});
    const auto map = ClockMap::from_knots(std::move(knots));
    ASSERT_TRUE(map) << map.error().message;
    ClockMap::Cursor cursor(*map);
    std::size_t flush = 0, wrong = 0;
    for (std::size_t event = 0; event < raw[i].times.size(); ++event) {
      wrong += static_cast<std::uint64_t>(cursor(raw[i].times[event])) != expected[i].times[event];
      if (flush < raw[i].flush_events.size() && raw[i].flush_events[flush] == event) {
        const auto stop = static_cast<std::uint64_t>(cursor(raw[i].flush_stops[flush]));
        wrong += stop != expected[i].flush_stops[flush];
        ++flush;
      }
    }
    EXPECT_EQ(wrong, 0u) << "of " << raw[i].times.size() << " events of location " << i;
    EXPECT_EQ(flush, raw[i].flush_stops.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Archives, Scan, testing::ValuesIn(test_archives()),
                         [](const auto& test) { return test.param.name; });

TEST(SharedTraces, are_there) {
  if (!has_shared_traces()) {
    std::puts("skipped: no further traces at " ENTRAIN_SHARED_TRACES_DIR);
    GTEST_SKIP() << "no further traces at " << ENTRAIN_SHARED_TRACES_DIR;
  }
}

// What the other tests rely on: the generated archive does hold what it promises.
TEST(AllRecords, holds_every_record_type) {
  const TempFolder scratch;
  const auto anchor = write_all_records_archive(scratch / "a", 1);
  const auto printed = print_archive(anchor, true);
  ASSERT_EQ(printed.exit_code, 0) << printed.errors;
  std::map<std::string, unsigned> kinds;
  bool attributes = false;
  for (const auto& [location, lines] : printed.events) {
    std::istringstream stream(lines);
    for (std::string line; std::getline(stream, line);) {
      if (line.starts_with("  ")) {
        attributes = true;
      } else {
        ++kinds[line.substr(0, line.find(' '))];
      }
    }
  }
  EXPECT_EQ(kinds.erase("SNAPSHOT_START") + kinds.erase("SNAPSHOT_END"), 2u);
  EXPECT_EQ(kinds.size(), k_event_record_types);
  EXPECT_TRUE(attributes);
  for (const auto& [kind, count] : kinds) EXPECT_GT(count, 10u) << kind;
  const auto trace = library_trace(anchor);
  EXPECT_EQ(trace.locations[0].first, 0u);
  EXPECT_EQ(trace.locations[4].event_count, 0u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(trace.locations[i].clock_offsets.size(), i);
    EXPECT_FALSE(trace.locations[i].flushes.empty());
  }
  EXPECT_GT(std::filesystem::file_size(scratch / "a/traces/0.evt"), 3u * 256 * 1024);
  EXPECT_EQ(library_markers(anchor).size(), 2u);
  EXPECT_FALSE(library_snapshots(anchor).empty());
}

TEST(AllRecords, is_the_same_for_the_same_seed) {
  const TempFolder scratch;
  const AllRecordsOptions options{.events_per_location = 500};
  write_all_records_archive(scratch / "a", 5, options);
  write_all_records_archive(scratch / "b", 5, options);
  write_all_records_archive(scratch / "c", 6, options);
  EXPECT_EQ(digest_tree(scratch / "a"), digest_tree(scratch / "b"));
  EXPECT_NE(digest_tree(scratch / "a"), digest_tree(scratch / "c"));
}

}  // namespace
}  // namespace entrain::test
