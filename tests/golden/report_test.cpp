// SPDX-License-Identifier: BSD-3-Clause
//
// The reports for people and machines, compared with the text files beside this one.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "golden/golden.hpp"
#include "report/bounds_report.hpp"
#include "report/check_report.hpp"
#include "report/compare_report.hpp"
#include "report/correct_report.hpp"
#include "report/distort_report.hpp"
#include "report/drop_report.hpp"
#include "report/info_report.hpp"
#include "report/samples_testing.hpp"
#include "report/synth_report.hpp"

namespace entrain::report {
namespace {

template <class Report>
void expect_golden_report(const std::string& name, const Report& shown) {
  Style verbose;
  verbose.verbose = true;
  report::expect_golden_report(name, to_text(shown, {}), to_text(shown, verbose), to_json(shown));
}

TEST(GoldenReport, info) { expect_golden_report("info", samples::info()); }
TEST(GoldenReport, check) { expect_golden_report("check", samples::check()); }
TEST(GoldenReport, correct) { expect_golden_report("correct", samples::correct()); }
TEST(GoldenReport, correct_overlay) { expect_golden_report("correct_overlay", samples::overlay()); }
TEST(GoldenReport, compare) { expect_golden_report("compare", samples::compare()); }
TEST(GoldenReport, distort) { expect_golden_report("distort", samples::distort()); }
TEST(GoldenReport, drop) { expect_golden_report("drop", samples::drop()); }
TEST(GoldenReport, synth) { expect_golden_report("synth", samples::synth()); }

TEST(GoldenReport, check_and_correct_with_bounds) {
  CheckReport check = samples::check();
  check.bounds = samples::bounds();
  check.bounds->reason = "there are no events";
  expect_golden_report("check_no_bounds", check);
  CorrectReport correct = samples::correct();
  correct.bounds = samples::bounds();
  correct.before.bounds = samples::bounds();
  correct.phases.bounds = 0.0125;
  expect_golden_report("correct_bounds", correct);
  expect_golden("bounds.csv", bounds_csv(samples::bounds(), 1'000'000'000));
}

TEST(GoldenReport, check_of_a_clean_trace) {
  CheckReport report = samples::check();
  for (EdgeStatistics& edges : report.edges) {
    edges.violations = edges.below_latency = 0;
    if (edges.worst) edges.worst->margin_ticks = 512;
  }
  report.violations = report.below_latency = 0;
  report.mu_ticks = {};
  report.mu_source = "none";
  report.unmatched = report.skipped = {};
  expect_golden_report("check_clean", report);
}

TEST(GoldenReport, check_of_an_empty_trace) {
  CheckReport report;
  report.archive = "empty/traces.otf2";
  report.resolution_hz = 1;
  report.presync = "none";
  expect_golden_report("check_empty", report);
}

TEST(GoldenReport, what_could_not_be_read_is_part_of_the_conclusion) {
  const auto last_line = [](std::string text) {
    text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  };
  CheckReport check = samples::check();
  check.skipped = {{"missing_event_files", 1}, {"truncated_event_files", 2}};
  EXPECT_EQ(last_line(to_text(check, {})),
            "473 violations: the receive is earlier than the send. Not everything could be read: "
            "1 event file is missing, 2 event files are truncated.");
  check.violations = check.below_latency = 0;
  EXPECT_EQ(last_line(to_text(check, {})),
            "No violations found in what could be read: 1 event file is missing, 2 event files "
            "are truncated.");
  CorrectReport correct = samples::correct();
  correct.before.skipped = {{"missing_event_files", 1}};
  EXPECT_EQ(last_line(to_text(correct, {})),
            "No violations found in what could be read: 1 event file is missing. Checked on the "
            "archive as written.");
  correct.verified = false;
  EXPECT_EQ(
      last_line(to_text(correct, {})),
      "Written, but not verified: run entrain check to see what remains. Not everything could "
      "be read: 1 event file is missing.");
}

TEST(GoldenReport, correct_that_fails) {
  CorrectReport report = samples::overlay();
  report.link = "hard";
  report.after.edges[0].violations = report.after.violations = 1;
  report.statistics.moved_backward = 3;
  report.statistics.order_broken = 1;
  expect_golden_report("correct_remaining", report);
}

TEST(GoldenReport, correct_says_why_an_overlay_leaves_violations) {
  CorrectReport report = samples::overlay();
  report.after.edges[0].violations = report.after.violations = 2;
  report.after.skipped.emplace_back("events_in_flushes", 3);
  EXPECT_THAT(to_text(report, {}),
              ::testing::HasSubstr("2 violations left in the archive as written: 3 events of "
                                   "communication lie inside a buffer"));
}

TEST(GoldenReport, correct_not_verified) {
  CorrectReport report = samples::correct();
  report.verified = false;
  report.after = {};
  expect_golden_report("correct_not_verified", report);
}

TEST(GoldenReport, coloured_text_is_the_same_text_without_its_colours) {
  Style colour;
  colour.colour = true;
  std::string text = to_text(samples::correct(), colour);
  EXPECT_NE(text.find('\x1b'), std::string::npos);
  for (std::size_t begin = 0; (begin = text.find('\x1b')) != std::string::npos;)
    text.erase(begin, text.find('m', begin) + 1 - begin);
  EXPECT_EQ(text, to_text(samples::correct(), {}));
}

}  // namespace
}  // namespace entrain::report
