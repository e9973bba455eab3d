// SPDX-License-Identifier: BSD-3-Clause
// Archives that go through the OTF2 library because our scanner does not know their form: the same
// definitions, skeletons and reports as of the ordinary ones, or one sentence that tells why not.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>

#include <entrain/entrain.hpp>

#include "formats/otf2/read/archive.hpp"
#include "support/all_records.hpp"
#include "support/compare_traces.hpp"
#include "support/files.hpp"
#include "support/process.hpp"
#include "support/random_events.hpp"
#include "support/scanned_trace.hpp"
#include "support/small_trace.hpp"
#include "support/test_archives.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

// Positions in an anchor file. The library does not look at the first one.
constexpr std::size_t k_anchor_format_at = 7, k_trace_format_at = 8, k_substrate_at = 28;
constexpr std::uint8_t k_newer_format = 4;

void set_byte(const fs::path& file, std::size_t at, std::uint8_t value) {
  Bytes bytes = read_bytes(file);
  bytes.at(at) = value;
  write_bytes(file, bytes);
}

/// A copy of an archive whose anchor has a format that the scanner does not know.
fs::path foreign_twin(const fs::path& anchor, const fs::path& folder) {
  copy_tree(anchor.parent_path(), folder);
  set_byte(folder / anchor.filename(), k_anchor_format_at, k_newer_format);
  return folder / anchor.filename();
}

/// Copies live in a folder of the test's own, so that what is left behind is seen.
class LibraryCopies : public testing::Test {
 protected:
  void SetUp() override {
#if !ENTRAIN_HAS_OTF2_LIBRARY
    GTEST_SKIP() << "this build reads nothing with the OTF2 library";
#endif
    fs::create_directory(temporary());
    const char* old = std::getenv("TMPDIR");
    old_ = old == nullptr ? "" : old;
    ::setenv("TMPDIR", temporary().c_str(), 1);
  }
  void TearDown() override {
    if (IsSkipped()) return;
    EXPECT_EQ(entries_of(temporary()), std::vector<std::string>());
    old_.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", old_.c_str(), 1);
  }
  [[nodiscard]] fs::path temporary() const { return scratch_ / "tmp"; }

  TempFolder scratch_;
  std::string old_;
};

class LibraryCopyOf : public LibraryCopies, public testing::WithParamInterface<TestArchive> {};

TEST_P(LibraryCopyOf, archives_is_read_the_same) {
  const fs::path original = GetParam().make(scratch_.path());
  const auto twin = otf2::Archive::open(foreign_twin(original, scratch_ / "twin"));
  ASSERT_TRUE(twin) << twin.error().message;
  EXPECT_TRUE((*twin)->is_copy());
  EXPECT_EQ((*twin)->anchor().foreign, "has anchor format 4");
  const auto plain = otf2::Archive::open(original);
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_FALSE((*plain)->is_copy());
  const trace::Trace expected = scanned_trace(**plain), actual = scanned_trace(**twin);
  EXPECT_EQ(difference(actual, expected), "");
  ASSERT_EQ(actual.locations.size(), expected.locations.size());
  for (LocationIndex l = 0; l < actual.locations.size(); ++l) {
    const auto &a = actual.locations[l], &e = expected.locations[l];
    EXPECT_EQ(a.event_file_missing, e.event_file_missing) << "location " << l;
    EXPECT_EQ(a.definition_file_missing, e.definition_file_missing) << "location " << l;
    EXPECT_FALSE(a.truncated) << "location " << l;
    for (const std::uint64_t time : {e.first, e.last, (e.first + e.last) / 2}) {
      EXPECT_EQ((*twin)->region_at(l, time).value(), (*plain)->region_at(l, time).value())
          << "location " << l;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Archives, LibraryCopyOf, testing::ValuesIn(test_archives()),
                         [](const auto& test) { return test.param.name; });

/// What the tool prints about an archive, without its path and the size of its files.
std::string report_of(const std::string& verb, const fs::path& archive) {
  const auto run =
      run_program({ENTRAIN_BINARY, verb, archive.string(), "--json"}, {.timeout_s = 60});
  EXPECT_LE(run.exit_code, 1) << run.summary();
  std::istringstream lines(run.out);
  std::string result;
  for (std::string line; std::getline(lines, line);) {
    const bool differs = line.find("\"archive\"") != std::string::npos ||
                         line.find("\"event_bytes\"") != std::string::npos;
    if (!differs) result += line + '\n';
  }
  return result;
}

TEST_F(LibraryCopies, give_the_same_reports_on_all_recorded_traces) {
  for (const fs::path& root :
       {fs::path(ENTRAIN_EXAMPLES_DIR) / "traces", fs::path(ENTRAIN_SHARED_TRACES_DIR)}) {
    for (const fs::path& folder : archives_under(root)) {
      SCOPED_TRACE(folder.string());
      const TempFolder twin;
      foreign_twin(anchor_in(folder), twin / "in");
      EXPECT_EQ(report_of("check", twin / "in"), report_of("check", folder));
      EXPECT_EQ(report_of("info", twin / "in"), report_of("info", folder));
    }
  }
}

TEST_F(LibraryCopies, old_trace_formats_are_read_through_the_library) {
  const fs::path anchor = write_small_trace(scratch_ / "a");
  const trace::Trace expected = scanned_trace(anchor);
  set_byte(anchor, k_trace_format_at, 1);
  EXPECT_EQ(difference(scanned_trace(anchor), expected), "");
}

/// The error of opening an archive with one byte of its anchor changed.
std::string refusal(const fs::path& anchor, std::size_t at, std::uint8_t value) {
  const Bytes whole = read_bytes(anchor);
  set_byte(anchor, at, value);
  const auto archive = otf2::Archive::open(anchor);
  write_bytes(anchor, whole);
  return archive ? "" : archive.error().message;
}

TEST_F(LibraryCopies, what_the_library_does_not_know_either_is_one_clear_sentence) {
  const fs::path anchor = write_small_trace(scratch_ / "a");
  const std::string begin = anchor.string() + " ", end = "; convert it to the POSIX substrate";
  for (const auto& [at, value, what] :
       {std::tuple(k_trace_format_at, std::uint8_t{9}, "has trace format 9"),
        std::tuple(k_substrate_at, std::uint8_t{3}, "uses substrate 3"),
        std::tuple(k_substrate_at, std::uint8_t{7}, "uses substrate 7")}) {
    const std::string message = refusal(anchor, at, value);
    EXPECT_TRUE(message.starts_with(begin + what)) << message;
    EXPECT_NE(message.find(end), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
  EXPECT_TRUE(refusal(anchor, k_substrate_at, 2).starts_with(begin + "uses the SIONlib substrate"));
  set_byte(anchor, k_trace_format_at, 9);
  const auto run = run_program({ENTRAIN_BINARY, "check", anchor.string()});
  EXPECT_EQ(run.exit_code, 2) << run.summary();
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(line_count(run.err), 1u) << run.err;
}

TEST_F(LibraryCopies, a_missing_file_is_named_with_the_reason) {
  const fs::path anchor = foreign_twin(write_small_trace(scratch_ / "a"), scratch_ / "twin");
  fs::path definitions = anchor;
  definitions.replace_extension(".def");
  ASSERT_TRUE(fs::remove(definitions));
  const auto refused = entrain::check(anchor, CheckOptions{});
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find(definitions.string()), std::string::npos)
      << refused.error().message;
  EXPECT_NE(refused.error().message.find("does not exist"), std::string::npos)
      << refused.error().message;
}

TEST_F(LibraryCopies, no_archive_is_written_from_them) {
  const fs::path anchor = foreign_twin(write_small_trace(scratch_ / "a"), scratch_ / "twin");
  const std::string expected = anchor.string() + " has anchor format 4: such an archive can be";
  const auto corrected = entrain::correct(anchor, scratch_ / "out", CorrectOptions{});
  ASSERT_FALSE(corrected);
  EXPECT_TRUE(corrected.error().message.starts_with(expected)) << corrected.error().message;
  const auto distorted = entrain::distort(anchor, scratch_ / "out", DistortOptions{});
  ASSERT_FALSE(distorted);
  EXPECT_TRUE(distorted.error().message.starts_with(expected)) << distorted.error().message;
  EXPECT_FALSE(fs::exists(scratch_ / "out"));
}

/// Damaged archives: the library may refuse, crash or never end; the caller hears one sentence.
TEST_F(LibraryCopies, damage_ends_in_a_sentence_or_a_result) {
  const fs::path anchor = foreign_twin(
      write_all_records_archive(
          scratch_ / "a", 3, {.events_per_location = 120, .base_time = 5000, .side_files = false}),
      scratch_ / "twin");
  unsigned refused = 0;
  constexpr unsigned k_seeds = 60;
  for (unsigned seed = 0; seed < k_seeds; ++seed) {
    Random random(seed);
    const fs::path file = scratch_ / "twin" / (seed % 3 == 0 ? "traces.def" : "traces/7.evt");
    const Bytes whole = read_bytes(file);
    Bytes bytes = whole;
    bytes.at(18 + random.below(bytes.size() - 18)) = static_cast<std::uint8_t>(random.below(256));
    write_bytes(file, bytes);
    const auto archive = otf2::Archive::open(anchor);
    write_bytes(file, whole);
    if (archive) continue;
    ++refused;
    const std::string& message = archive.error().message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_NE(message.find(anchor.stem().string()), std::string::npos) << message;
    // Where the library runs around in circles nobody waits for a minute.
    EXPECT_EQ(message.find("has not read it in 60 s"), std::string::npos) << message;
  }
  std::printf("%u of %u refused\n", refused, k_seeds);
  EXPECT_GT(refused, 5u);
}

}  // namespace
}  // namespace entrain::test
