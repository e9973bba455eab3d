// SPDX-License-Identifier: BSD-3-Clause
//
// The reports for people and machines, compared with the text files beside this one.
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "golden/golden.hpp"
#include "report/parts.hpp"
#include "report/report.hpp"
#include "report/samples_testing.hpp"
#include "sim/report/reports.hpp"
#include "sim/report/samples_testing.hpp"

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
  correct.run.phases.bounds = 0.0125;
  expect_golden_report("correct_bounds", correct);
  expect_golden("bounds.csv", bounds_csv(samples::bounds(), 1'000'000'000));
}

TEST(GoldenReport, check_of_a_clean_trace) {
  expect_golden_report("check_clean", samples::clean_check());
}

TEST(GoldenReport, check_of_a_trace_that_tells_nothing) {
  expect_golden_report("check_unproven", samples::unproven_check());
}

TEST(GoldenReport, check_of_an_empty_trace) {
  CheckReport report;
  report.archive = "empty/traces.otf2";
  report.resolution_hz = 1;
  report.presync = PresyncMethod::none;
  report.min_coverage = 0.5;
  report.judgement = {Verdict::clean, Doubt::none};
  expect_golden_report("check_empty", report);
}

TEST(GoldenReport, clocks) {
  expect_golden_report("clocks", samples::clocks());
  expect_golden("clocks.csv", clocks_csv(samples::clocks()));
}

TEST(GoldenReport, stragglers) {
  expect_golden_report("stragglers", samples::stragglers());
  expect_golden("stragglers.csv", stragglers_csv(samples::stragglers()));
}

TEST(StragglerReport, says_that_nobody_stands_out_or_nothing_is_proved) {
  StragglerReport report = samples::stragglers();
  report.outstanding = 0;
  EXPECT_THAT(stragglers_sentence(report),
              testing::StartsWith("No process stands out: rank 3 is "));
  report.ties = 700;
  EXPECT_THAT(stragglers_sentence(report), testing::StartsWith("Nobody is proved to stand out: "));
  EXPECT_THAT(stragglers_sentence(report),
              testing::HasSubstr("By their times alone rank 0 would be last most often, in 9 of"));
  report.proven = 0;
  report.reason = "the trace contradicts itself";
  EXPECT_THAT(stragglers_sentence(report),
              testing::HasSubstr("no last arrival is proved, as the trace contradicts itself"));
  EXPECT_EQ(stragglers_sentence({}), "There is no collective in which members wait for others.");
  EXPECT_NE(to_text(StragglerReport(), {}), "");
}

TEST(StragglerReport, names_many_by_the_first_ones) {
  StragglerReport report = samples::stragglers();
  report.outstanding = 2;
  EXPECT_THAT(stragglers_sentence(report),
              testing::StartsWith("rank 3 and rank 1 are last in 452 of "));
  report.outstanding = 4;
  EXPECT_THAT(stragglers_sentence(report),
              testing::StartsWith("4 of 4 processes (rank 3, rank 1, rank 0 and more) are last"));
}

TEST(ClockReport, sorts_by_name_and_by_size) {
  const auto names = [](ClockOrder order) {
    ClockTable table = samples::clocks();
    sort_clocks(table, order);
    std::vector<std::string> numbers;
    for (const ClockRow& row : table.rows) numbers.push_back(row.name.substr(9));
    return numbers;
  };
  EXPECT_THAT(names(ClockOrder::name), testing::ElementsAre("0", "2", "3", "4", "5", "10"));
  EXPECT_THAT(names(ClockOrder::drift), testing::ElementsAre("4", "2", "0", "3", "5", "10"));
  EXPECT_THAT(names(ClockOrder::bound), testing::ElementsAre("2", "3", "10", "0", "4", "5"));
}

/// A trace that a tired engineer reads: the verdict first, and no more than a screen.
TEST(ShortReport, fits_on_a_screen_and_begins_with_the_verdict) {
  for (const std::string& text : {to_text(samples::check(), {}), to_text(samples::correct(), {})}) {
    EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 28) << text;
    EXPECT_TRUE(text.starts_with("Violations: ") || text.starts_with("Clean: ")) << text;
    EXPECT_LT(text.find("MPI Rank 10 was set"), text.find("kind ")) << text;
  }
  Style brief;
  brief.brief = true;
  EXPECT_EQ(to_text(samples::check(), brief), verdict_text(samples::check(), brief));
  EXPECT_EQ(to_text(samples::correct(), brief), verdict_text(samples::correct(), brief));
}

/// The verdict, a report's first paragraph, as one line.
template <class Report>
std::string verdict_of(const Report& report) {
  std::string text = to_text(report, {});
  text = text.substr(0, text.find("\n\n"));
  if (text.ends_with('\n')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

TEST(GoldenReport, what_could_not_be_read_is_part_of_the_verdict) {
  CheckReport check = samples::check();
  check.skipped = {{"missing_event_files", 1}, {"truncated_event_files", 2}};
  EXPECT_EQ(verdict_of(check),
            "Violations: 473 of 55,712 edges are violated: the receive is earlier than the send; "
            "99.04 % of the recorded receives and collective calls could be checked; not "
            "everything could be read: 1 event file is missing, 2 event files are truncated.");
  CorrectReport correct = samples::correct();
  correct.before.skipped = {{"missing_event_files", 1}};
  EXPECT_EQ(verdict_of(correct),
            "Clean: in the archive as written none of 55,712 edges is violated; 99.04 % of the "
            "recorded receives and collective calls could be checked; not everything could be "
            "read: 1 event file is missing.");
  correct.verified = false;
  correct.judgement = {};
  EXPECT_EQ(verdict_of(correct),
            "No verdict: the new archive was not read back, so nothing in it was checked; entrain "
            "check can do it; not everything could be read: 1 event file is missing.");
}

TEST(GoldenReport, a_verdict_says_what_speaks_against_it) {
  CheckReport check = samples::clean_check();
  check.below_latency = 3;
  check.completeness.mpi_communication = false;
  EXPECT_EQ(verdict_of(check),
            "Clean: none of 55,712 edges is violated; 3 edges are closer than the minimum latency; "
            "100 % of the recorded receives and collective calls could be checked; the archive "
            "says that its MPI communication is not complete.");
  check.judgement = {Verdict::violations, Doubt::none};  // by --strict-latency
  EXPECT_EQ(verdict_of(check),
            "Violations: 3 of 55,712 edges are closer than the minimum latency; 100 % of the "
            "recorded receives and collective calls could be checked; the archive says that its "
            "MPI communication is not complete.");
  check = samples::check();
  check.skipped = {{"dropped_edges", 2}};
  EXPECT_THAT(verdict_of(check),
              ::testing::HasSubstr("; 2 more edges contradict each other in cycles and could not "
                                   "be checked; 99.04 %"));
}

TEST(GoldenReport, an_unproven_trace_is_never_called_free_of_violations) {
  CheckReport check = samples::clean_check();
  check.coverage.paired = 100;
  check.judgement = {Verdict::unproven, Doubt::low_coverage};
  EXPECT_EQ(verdict_of(check),
            "Unproven: only 34.64 % of the recorded receives and collective calls could be "
            "checked, less than 50 %; none of 55,712 edges is violated.");
  check.skipped = {{"dropped_edges", 1}};
  check.judgement = {Verdict::unproven, Doubt::contradictory_edges};
  EXPECT_EQ(verdict_of(check),
            "Unproven: 1 edge lies in cycles that no clocks can meet: operations were paired "
            "wrongly, or times of records are wrong; none of 55,712 other edges is violated; "
            "34.64 % of the recorded receives and collective calls could be checked.");
  check.checked_edges = 0;
  check.coverage = {};
  check.judgement = {Verdict::unproven, Doubt::no_edges};
  EXPECT_EQ(verdict_of(check),
            "Unproven: nothing could be checked: what is recorded of communication yields no "
            "edge.");
}

TEST(GoldenReport, an_overlay_of_several_kinds_of_links_says_what_each_needs) {
  CorrectReport correct = samples::correct();
  correct.mode = WriteMode::overlay;
  correct.links = {0, 0, 7, 1};
  const std::string text = report::to_text(correct, {});
  EXPECT_THAT(text, ::testing::HasSubstr("event files linked: symbolic link (7), hard link (1)"));
  EXPECT_THAT(text, ::testing::HasSubstr("must stay where they are"));
  EXPECT_THAT(text, ::testing::HasSubstr("Where links are hard"));
}

TEST(GoldenReport, folders_of_killed_runs_that_were_removed_are_told) {
  CorrectReport correct = samples::correct();
  correct.run.leftovers_removed = 2;
  EXPECT_THAT(report::to_text(correct, {}),
              ::testing::HasSubstr("2 unfinished folders of killed runs"));
  EXPECT_THAT(report::json_text(correct), ::testing::HasSubstr("\"leftovers_removed\": 2"));
}

TEST(GoldenReport, a_correction_that_dropped_edges_or_broke_the_order_says_so) {
  CorrectReport correct = samples::correct();
  correct.cycles = {{"dropped_edges", 4}};
  correct.judgement = {Verdict::unproven, Doubt::contradictory_edges};
  EXPECT_THAT(verdict_of(correct),
              ::testing::StartsWith("Unproven: in the archive as written 4 edges lie in cycles"));
  correct.statistics.order_broken = 2;
  correct.judgement = {Verdict::violations, Doubt::none};
  EXPECT_EQ(verdict_of(correct),
            "Violations: in the archive as written 2 pairs of local events changed order.");
}

TEST(GoldenReport, correct_that_fails) {
  CorrectReport report = samples::overlay();
  report.links = {0, 0, 0, 8};
  report.after.edges[0].violations = report.after.violations = 1;
  report.after.judgement = {Verdict::violations, Doubt::none};
  report.judgement = report.after.judgement;
  report.statistics.moved_backward = 3;
  report.statistics.order_broken = 1;
  expect_golden_report("correct_remaining", report);
}

TEST(GoldenReport, correct_says_why_an_overlay_leaves_violations) {
  CorrectReport report = samples::overlay();
  report.after.edges[0].violations = report.after.violations = 2;
  report.after.judgement = {Verdict::violations, Doubt::none};
  report.judgement = report.after.judgement;
  report.after.skipped.emplace_back("events_in_flushes", 3);
  EXPECT_THAT(verdict_of(report),
              ::testing::HasSubstr("; 3 events of communication lie inside a buffer flush"));
}

TEST(GoldenReport, correct_not_verified) {
  CorrectReport report = samples::correct();
  report.verified = false;
  report.judgement = {};
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
