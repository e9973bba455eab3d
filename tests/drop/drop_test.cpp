// SPDX-License-Identifier: BSD-3-Clause
//
// Archives that lost records: the same ones as a trace in memory loses, and nothing else is
// different. Read by the product's scanner and by the OTF2 library.
#include <algorithm>
#include <sstream>
#include <tuple>

#include <gtest/gtest.h>
#include <entrain/entrain.hpp>

#include "formats/otf2/format/format.hpp"
#include "formats/otf2/read/archive.hpp"
#include "sim/model/drop_testing.hpp"
#include "support/big_endian.hpp"
#include "support/compare_traces.hpp"
#include "support/files.hpp"
#include "support/otf2_print.hpp"
#include "support/scanned_trace.hpp"
#include "support/test_archives.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

DropOptions random_loss() {
  DropOptions options;
  options.random = 0.05;
  options.seed = 7;
  return options;
}

/// Ways to lose records that a trace in memory knows, by name.
std::vector<std::pair<std::string, DropOptions>> losses() {
  std::vector<std::pair<std::string, DropOptions>> all;
  all.emplace_back("random", random_loss());
  DropOptions windows;
  windows.windows = {0.2, 0.5};
  all.emplace_back("windows", windows);
  DropOptions tail;
  tail.tail = {0.3, 0.5};
  all.emplace_back("tail", tail);
  DropOptions calls;
  calls.calls = {"Allreduce", "barrier", "send"};
  all.emplace_back("calls", calls);
  DropOptions together = random_loss();
  together.windows = {0.1, 1};
  together.tail = {0.1, 0.3};
  together.calls = {"Bcast"};
  all.emplace_back("together", together);
  return all;
}

auto fields(const trace::Event& e) {
  return std::tuple(e.time, e.id, e.comm, e.peer, e.tag, e.kind, e.op, e.flags, e.more);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The printed lines of events, without those of their attributes.
std::size_t count_events(const std::vector<std::string>& lines) {
  return static_cast<std::size_t>(std::count_if(
      lines.begin(), lines.end(), [](const std::string& l) { return !l.starts_with(' '); }));
}

bool is_subsequence(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  std::size_t at = 0;
  for (const std::string& line : whole) {
    if (at < part.size() && part[at] == line) ++at;
  }
  return at == part.size();
}

/// Checks the numbers in the headers of the chunks of an event file; returns the last one.
std::uint64_t events_in_headers(const fs::path& file, std::uint64_t chunk_size) {
  const Bytes bytes = read_bytes(file);
  std::uint64_t last = 0;
  for (std::uint64_t at = 0; at + otf2::k_chunk_header_size <= bytes.size(); at += chunk_size) {
    const bool big_endian = bytes[at + 1] == otf2::k_big_endian;
    EXPECT_EQ(otf2::load_u64(&bytes[at + 2], big_endian), last + 1);
    last = otf2::load_u64(&bytes[at + otf2::k_last_event_field], big_endian);
  }
  return last;
}

class DropArchive : public testing::TestWithParam<TestArchive> {
 protected:
  void SetUp() override {
    anchor_ = GetParam().make(scratch_.path());
    before_ = digest_tree(anchor_.parent_path());
  }
  void TearDown() override { EXPECT_EQ(digest_tree(anchor_.parent_path()), before_); }

  DropReport drop_to(const std::string& name, const DropOptions& options) {
    const auto report = drop(anchor_, scratch_ / name, options);
    if (!report) throw std::runtime_error(report.error().message);
    return *report;
  }

  TempFolder scratch_;
  fs::path anchor_;
  std::map<std::string, std::uint64_t> before_;
};

TEST_P(DropArchive, loses_the_records_that_the_trace_in_memory_loses) {
  const trace::Trace original = scanned_trace(anchor_);
  for (const auto& [name, options] : losses()) {
    SCOPED_TRACE(name);
    const DropReport report = drop_to(name, options);
    const trace::Trace written = scanned_trace(fs::path(report.output));
    const auto expected = sim::drop(original, options);
    ASSERT_TRUE(expected) << expected.error().message;
    for (std::size_t l = 0; l < original.locations.size(); ++l) {
      const auto& mine = written.locations[l];
      const auto& theirs = expected->trace.locations[l];
      ASSERT_EQ(mine.events.size(), theirs.events.size()) << "location " << l;
      for (std::size_t i = 0; i < mine.events.size(); ++i) {
        ASSERT_EQ(fields(mine.events[i]), fields(theirs.events[i])) << l << " event " << i;
      }
      const DropLocation& line = report.locations[l];
      EXPECT_EQ(mine.event_count,
                original.locations[l].event_count - line.communication.lost - line.others_lost);
      EXPECT_EQ(written.definitions.locations[l].event_count, mine.event_count);
      EXPECT_EQ(line.window.has_value(), expected->report.locations[l].window.has_value());
      if (line.window) {
        EXPECT_EQ(line.window->begin, expected->report.locations[l].window->begin);
      }
      EXPECT_EQ(line.end, expected->report.locations[l].end);
      EXPECT_EQ(mine.flushes.size(), theirs.flushes.size());
      EXPECT_EQ(mine.truncated, theirs.truncated);
    }
    for (std::size_t k = 0; k < k_record_kinds; ++k) {
      if (!sim::in_skeletons(static_cast<RecordKind>(k))) continue;
      EXPECT_EQ(report.kinds[k].records, expected->report.kinds[k].records);
      EXPECT_EQ(report.kinds[k].lost, expected->report.kinds[k].lost);
    }
  }
}

TEST_P(DropArchive, marks_windows_as_the_trace_in_memory_knows_them) {
  const trace::Trace original = scanned_trace(anchor_);
  DropOptions options;
  options.windows = {0.2, 1};
  options.mark_windows = true;
  const trace::Trace written = scanned_trace(fs::path(drop_to("marked", options).output));
  const auto expected = sim::drop(original, options);
  ASSERT_TRUE(expected) << expected.error().message;
  for (std::size_t l = 0; l < original.locations.size(); ++l) {
    if (!original.locations[l].gaps.empty() || !original.locations[l].decreasing.empty()) continue;
    const auto& mine = written.locations[l].gaps;
    const auto& theirs = expected->trace.locations[l].gaps;
    ASSERT_EQ(mine.size(), theirs.size()) << "location " << l;
    for (std::size_t k = 0; k < mine.size(); ++k) {
      EXPECT_EQ(mine[k].begin, theirs[k].begin) << "location " << l;
      EXPECT_EQ(mine[k].end, theirs[k].end) << "location " << l;
    }
  }
}

TEST_P(DropArchive, leaves_all_else_as_it_was_for_the_library) {
  DropOptions options = random_loss();
  options.windows = {0.1, 0.5};
  const DropReport report = drop_to("out", options);
  const PrintedArchive original = print_archive(anchor_, false);
  const PrintedArchive written = print_archive(report.output, true);
  EXPECT_EQ(written.exit_code, 0) << written.errors;
  std::uint64_t lost = 0;
  for (const auto& [location, text] : original.events) {
    const auto found = written.events.find(location);
    const std::vector<std::string> before = lines_of(text);
    const std::vector<std::string> after =
        lines_of(found == written.events.end() ? "" : found->second);
    EXPECT_TRUE(is_subsequence(after, before)) << location;
    lost += count_events(before) - count_events(after);
  }
  EXPECT_EQ(lost, report.lost);
}

TEST_P(DropArchive, counts_events_in_the_headers_of_chunks) {
  const DropReport report = drop_to("out", random_loss());
  const auto archive = otf2::Archive::open(report.output);
  ASSERT_TRUE(archive);
  for (LocationIndex l = 0; l < (*archive)->definitions().locations.size(); ++l) {
    if (!fs::exists((*archive)->event_file(l))) continue;
    EXPECT_EQ(events_in_headers((*archive)->event_file(l), (*archive)->anchor().event_chunk_size),
              (*archive)->definitions().locations[l].event_count);
  }
}

TEST_P(DropArchive, is_the_same_for_any_number_of_threads) {
  DropOptions options = losses().back().second;
  options.threads = 1;
  const DropReport one = drop_to("one", options);
  options.threads = 4;
  const DropReport four = drop_to("four", options);
  EXPECT_EQ(digest_tree(fs::path(one.output).parent_path()),
            digest_tree(fs::path(four.output).parent_path()));
}

TEST_P(DropArchive, without_a_loss_repeats_the_trace) {
  const DropReport report = drop_to("out", {});
  EXPECT_EQ(report.lost, 0u);
  EXPECT_EQ(difference(scanned_trace(fs::path(report.output)), scanned_trace(anchor_)), "");
}

INSTANTIATE_TEST_SUITE_P(Archives, DropArchive, testing::ValuesIn(test_archives()),
                         testing::PrintToStringParamName());

fs::path example(const char* name) { return fs::path(ENTRAIN_EXAMPLES_DIR) / "traces" / name; }

TEST(Drop, of_a_big_endian_archive_loses_the_same) {
  const TempFolder scratch;
  const fs::path anchor = anchor_in(example("allops-4"));
  make_big_endian(anchor, scratch / "big");
  const DropOptions options = losses().back().second;
  const auto little = drop(anchor, scratch / "a", options);
  const auto big = drop(scratch / "big", scratch / "b", options);
  ASSERT_TRUE(little && big);
  EXPECT_EQ(little->lost, big->lost);
  const trace::Trace a = scanned_trace(fs::path(little->output));
  const trace::Trace b = scanned_trace(fs::path(big->output));
  for (std::size_t l = 0; l < a.locations.size(); ++l) {
    EXPECT_EQ(difference(a.locations[l], b.locations[l]), "");
  }
}

TEST(Drop, of_a_region_loses_the_records_written_in_it) {
  const TempFolder scratch;
  DropOptions options;
  options.calls = {"MPI_Wait"};
  const auto report = drop(example("lulesh-8"), scratch / "out", options);
  ASSERT_TRUE(report) << report.error().message;
  std::uint64_t written_inside = 0;
  for (const auto& [location, text] : print_archive(anchor_in(example("lulesh-8")), false).events) {
    std::vector<bool> open;  // per region that is open: it is MPI_Wait
    for (const std::string& line : lines_of(text)) {
      if (line.starts_with("ENTER ")) open.push_back(line.find("\"MPI_Wait\"") != line.npos);
      if (line.starts_with("LEAVE ")) open.pop_back();
      written_inside += line.starts_with("MPI_") && !open.empty() && open.back() ? 1 : 0;
    }
  }
  EXPECT_GT(written_inside, 0u);
  EXPECT_EQ(report->lost, written_inside);
  options.calls = {"MPI_Wiat"};
  const auto refused = drop(example("lulesh-8"), scratch / "no", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::usage);
}

TEST(Drop, marks_windows_as_a_tracer_does) {
  const TempFolder scratch;
  DropOptions options;
  options.windows = {0.1, 0.5};
  options.tail = {0.5, 0.5};
  options.mark_windows = true;
  const auto report = drop(example("lulesh-8"), scratch / "out", options);
  ASSERT_TRUE(report) << report.error().message;
  const PrintedArchive printed = print_archive(report->output, true);
  EXPECT_EQ(printed.exit_code, 0) << printed.errors;
  std::uint64_t marks = 0;
  for (const DropLocation& location : report->locations) {
    const auto has = [&](std::uint64_t time) { return !location.end || time < *location.end; };
    std::vector<std::string> expected, found;
    if (location.window && has(location.window->begin)) expected.emplace_back("OFF");
    if (location.window && has(location.window->end)) expected.emplace_back("ON");
    for (const std::string& line : lines_of(printed.events.at(std::to_string(location.id)))) {
      if (!line.starts_with("MEASUREMENT_ON_OFF")) continue;
      found.push_back(line.substr(line.find("Mode: ") + 6));
    }
    EXPECT_EQ(found, expected) << location.id;
    marks += found.size();
  }
  EXPECT_EQ(report->marks, marks);
  EXPECT_GT(marks, 2u);
}

TEST(Drop, when_interrupted_leaves_nothing) {
  struct Impatient final : Progress {
    void begin(std::string_view phase, std::uint64_t, std::string_view) override {
      writing = phase == "write";
    }
    void advance(std::uint64_t) override {}
    [[nodiscard]] bool cancelled() const override { return writing; }
    bool writing = false;
  } user;
  const TempFolder scratch;
  const auto result = drop(example("lulesh-8"), scratch / "out", losses().back().second, &user);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::interrupted);
  EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>());
}

TEST(Drop, replaces_an_archive_only_when_forced) {
  const TempFolder scratch;
  DropOptions options = random_loss();
  ASSERT_TRUE(drop(example("allops-4"), scratch / "out", options));
  const auto refused = drop(example("allops-4"), scratch / "out", options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::output);
  options.force = true;
  EXPECT_TRUE(drop(example("allops-4"), scratch / "out", options));
}

TEST(Drop, does_not_write_into_its_input) {
  const TempFolder scratch;
  copy_tree(example("allops-4"), scratch / "in");
  DropOptions options = random_loss();
  options.force = true;
  const auto before = digest_tree(scratch.path());
  EXPECT_FALSE(drop(scratch / "in", scratch / "in", options));
  EXPECT_FALSE(drop(scratch / "in", scratch / "in/traces/new", options));
  EXPECT_EQ(digest_tree(scratch.path()), before);
}

TEST(Drop, leaves_a_missing_event_file_missing) {
  const TempFolder scratch;
  copy_tree(example("allops-4"), scratch / "in");
  fs::remove(scratch / "in/traces/0.evt");
  const auto report = drop(scratch / "in", scratch / "out", losses().back().second);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_FALSE(fs::exists(scratch / "out/traces/0.evt"));
  EXPECT_TRUE(fs::exists(scratch / "out/traces/0.def"));
  for (const auto& file : fs::directory_iterator(scratch / "in/traces")) {
    if (file.path().extension() == ".evt") fs::remove(file.path());
  }
  const auto refused = drop(scratch / "in", scratch / "none", random_loss());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
}

}  // namespace
}  // namespace entrain::test
