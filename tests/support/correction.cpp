// SPDX-License-Identifier: BSD-3-Clause
#include "support/correction.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/files.hpp"
#include "support/oracle.hpp"
#include "support/otf2_print.hpp"
#include "verify/testing.hpp"

namespace entrain::test {

namespace {

namespace fs = std::filesystem;

CorrectReport correct_once(const fs::path& anchor, const fs::path& output, CorrectOptions options) {
  fs::remove_all(output);
  const auto report = correct(anchor, output, options);
  if (!report) {
    ADD_FAILURE() << report.error().message;
    return {};
  }
  EXPECT_TRUE(report->verified);
  EXPECT_EQ(report->after.violations, 0u);
  EXPECT_EQ(report->statistics.order_broken, 0u);
  EXPECT_EQ(report->statistics.moved_backward, 0u);
  EXPECT_EQ(report->after.events, report->before.events);
  return *report;
}

/// Violations among the times that the OTF2 library reads from a self-contained archive.
std::uint64_t violations_by_library(const fs::path& anchor, const CheckOptions& options) {
  const trace::Trace trace = library_trace(anchor);
  const std::vector<ClockMap> stored(trace.locations.size());
  return verify::check(trace, {.maps = stored}, options).violations;
}

void expect_same_records(const PrintedArchive& before, const fs::path& anchor, bool strict) {
  const PrintedArchive after = print_archive(anchor, strict);
  EXPECT_EQ(after.exit_code, before.exit_code) << after.errors;
  ASSERT_EQ(after.events.size(), before.events.size());
  for (const auto& [location, lines] : before.events) {
    EXPECT_TRUE(after.events.at(location) == lines) << "location " << location;
  }
}

bool never_decreases(const std::vector<LocationTimes>& locations) {
  return std::all_of(locations.begin(), locations.end(), [](const LocationTimes& location) {
    return std::is_sorted(location.times.begin(), location.times.end());
  });
}

}  // namespace

CorrectReport expect_corrected(const fs::path& anchor, const fs::path& scratch,
                               CorrectOptions options, const Scrutiny& scrutiny) {
  options.mode = WriteMode::rewrite;
  const CorrectReport report = correct_once(anchor, scratch / "rewrite", options);
  options.mode = WriteMode::overlay;
  const CorrectReport overlay = correct_once(anchor, scratch / "overlay", options);
  if (report.output.empty() || overlay.output.empty()) return report;
  const std::vector<LocationTimes> times = library_times(report.output);
  EXPECT_TRUE(times == library_times(overlay.output)) << "the modes differ";
  EXPECT_TRUE(never_decreases(times));
  EXPECT_EQ(violations_by_library(report.output, options.check), 0u);
  if (scrutiny.records) {
    const bool strict = print_archive(anchor, true).exit_code == 0;
    const PrintedArchive before = print_archive(anchor, strict);
    expect_same_records(before, report.output, strict);
    expect_same_records(before, overlay.output, strict);
  }
  if (scrutiny.second_run) {
    for (const auto& first : {report.output, overlay.output}) {
      const CorrectReport second = correct_once(first, scratch / "second", options);
      EXPECT_EQ(second.before.violations, 0u);
      EXPECT_TRUE(library_times(second.output) == times) << "the second run changed times";
    }
  }
  return report;
}

void expect_untouched(const fs::path& anchor, const fs::path& scratch) {
  for (const WriteMode mode : {WriteMode::rewrite, WriteMode::overlay}) {
    CorrectOptions options;
    options.mode = mode;
    const CorrectReport report = correct_once(anchor, scratch / "untouched", options);
    EXPECT_EQ(report.before.violations, 0u);
    EXPECT_EQ(report.before.below_latency, 0u);
    if (report.output.empty()) return;
    const fs::path from = anchor.parent_path() / anchor.stem();
    const fs::path to = fs::path(report.output).parent_path() / anchor.stem();
    for (const std::string& file : entries_of(from)) {
      if (mode == WriteMode::rewrite && fs::path(file).extension() == ".def") continue;
      EXPECT_TRUE(read_bytes(from / file) == read_bytes(to / file)) << file;
    }
  }
}

}  // namespace entrain::test
