// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/printable.hpp"
#include "report/report.hpp"

namespace entrain::report {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(Sentences, the_verdict_of_align_fits_the_width) {
  AlignReport report;
  report.after.judgement = {Verdict::unproven, Doubt::contradictory_edges};
  report.after.checked_edges = 1'234'567;
  report.after.skipped = {{"contradicting_pairs", 1'234}};
  std::istringstream lines(to_text(report, {}));
  for (std::string line; std::getline(lines, line);) EXPECT_LE(width_of(line), 100u) << line;
}

TEST(Sentences, rows_of_a_table_without_a_proof_are_not_called_right) {
  CheckReport check;
  check.judgement = {Verdict::unproven, Doubt::low_coverage};
  check.clocks.resolution_hz = 1;
  check.clocks.rows.resize(2);
  check.clocks.rows[0].name = "a";
  check.clocks.rows[1].name = "b";
  EXPECT_THAT(clocks_text(check, {}, ClockOrder::off), Not(HasSubstr("right")));
  check.judgement = {Verdict::clean, Doubt::none};
  EXPECT_THAT(clocks_text(check, {}, ClockOrder::off), HasSubstr("right"));
}

TEST(Sentences, clocks_that_are_wrong_have_an_example_and_a_next_step) {
  CheckReport check;
  check.judgement = {Verdict::violations, Doubt::none};
  check.resolution_hz = check.clocks.resolution_hz = 1;
  check.clocks.rows.resize(2);
  check.edges[0].violations = 1;
  check.edges[0].worst.emplace().margin_ticks = -3;
  check.edges[0].worst->receive.clock = "host19";
  EXPECT_THAT(clocks_text(check, {}, ClockOrder::off), Not(HasSubstr("Go on")));
  check.clocks.rows[0].state = ClockState::slow;
  EXPECT_THAT(clocks_text(check, {}, ClockOrder::off), HasSubstr("\nWorst: host19 at "));
  EXPECT_THAT(clocks_text(check, {}, ClockOrder::off), HasSubstr("Go on: entrain correct"));
  EXPECT_THAT(clocks_text(check, {.brief = true}, ClockOrder::off), Not(HasSubstr("Go on")));
}

TEST(Sentences, a_clock_that_is_right_on_average_is_not_slow_by_nothing) {
  ClockTable table;
  table.resolution_hz = 1'000'000'000;
  table.rows.resize(2);
  table.rows[0].name = "a";
  table.rows[0].state = ClockState::slow;
  table.rows[0].most_ticks = 31'680;
  table.rows[1].name = "b";
  table.rows[1].state = ClockState::stepped;
  table.rows[1].most_ticks = 2'000'000;
  EXPECT_THAT(clocks_sentence(table), HasSubstr("a drifts, by up to 31.68 us, b was set."));
}

TEST(Sentences, one_rank_apart_is_in_the_singular) {
  CheckReport check;
  check.judgement = {Verdict::unproven, Doubt::clocks_apart};
  check.checked_edges = 40;
  check.unmatched = {{"ranks_apart", 1}};
  EXPECT_THAT(to_text(check, {.brief = true}), HasSubstr("nothing ties the clocks of 1 rank,"));
}

TEST(Sentences, a_check_that_finds_violations_says_how_to_go_on) {
  CheckReport check;
  check.judgement = {Verdict::clean, Doubt::none};
  EXPECT_THAT(to_text(check, {}), Not(HasSubstr("Go on: ")));
  check.judgement = {Verdict::violations, Doubt::none};
  check.checked_edges = 40;
  check.violations = 1;
  EXPECT_THAT(to_text(check, {}), HasSubstr("Go on: "));
  EXPECT_THAT(to_text(check, {.brief = true}), Not(HasSubstr("Go on: ")));
}

TEST(Sentences, a_verdict_names_devices_whose_clocks_were_not_checked) {
  CheckReport check;
  check.judgement = {Verdict::clean, Doubt::none};
  check.checked_edges = 40;
  EXPECT_THAT(to_text(check, {.brief = true}), Not(HasSubstr("accelerator")));
  check.skipped = {{"accelerators_unchecked", 2}};
  const std::string text = to_text(check, {.brief = true});
  EXPECT_THAT(text, HasSubstr("the times of 2 accelerator locations were not checked"));
}

TEST(Sentences, formats_have_words_of_their_own) {
  CheckReport check;
  check.judgement = {Verdict::violations, Doubt::none};
  check.checked_edges = 40;
  check.violations = 1;
  check.edges[0].count = 40;
  check.edges[0].violations = 1;
  check.coverage = {.receives = 40, .paired = 39};
  EXPECT_THAT(to_text(check, {}), HasSubstr("the receive is earlier than the send"));
  EXPECT_THAT(to_text(check, {}), HasSubstr("\np2p "));
  check.words = {.single = "request, reply",
                 .receive = "call",
                 .receives = "calls",
                 .violation = "work begins before its request",
                 .written = "copy"};
  for (const bool verbose : {false, true}) {
    const std::string text = to_text(check, {.verbose = verbose});
    EXPECT_THAT(text, HasSubstr("violated: work begins before its request; 97.50 % of the recorded "
                                "calls\ncould be"));
    EXPECT_THAT(text, HasSubstr("\nrequest, reply "));
    EXPECT_THAT(text, Not(HasSubstr("receive")));
  }
}

TEST(Sentences, lists_are_shorter_where_a_report_would_not_fit_on_a_screen) {
  CheckReport check;
  check.judgement = {Verdict::violations, Doubt::none};
  check.checked_edges = 40;
  check.violations = 1;
  check.clocks.resolution_hz = 1;
  for (std::string name : {"a", "b", "c", "d", "e", "f"}) {
    check.clocks.rows.emplace_back().state = ClockState::slow;
    check.clocks.rows.back().name = name;
    check.explanations.emplace_back().text = std::string(120, 'x') + " " + name;
  }
  for (EdgeStatistics& edges : check.edges) edges.count = 1;
  const std::string text = to_text(check, {});
  EXPECT_LE(std::ranges::count(text, '\n'), 25) << text;
  EXPECT_THAT(text, HasSubstr("and 5 more (-v lists all)"));
  EXPECT_THAT(to_text(check, {.verbose = true}), Not(HasSubstr(" more")));
}

TEST(Sentences, a_table_that_contradicts_itself_is_not_written) {
  AlignReport report;
  report.after.judgement = {Verdict::unproven, Doubt::contradictory_edges};
  report.after.violations = report.after.checked_edges = 40;
  report.contradicts_itself = true;
  EXPECT_THAT(to_text(report, {}), HasSubstr("Nothing is written"));
  EXPECT_THAT(to_text(report, {}), Not(HasSubstr("-o DIR")));
}

TEST(Sentences, an_alignment_that_wrote_nothing_says_how_to) {
  AlignReport report;
  EXPECT_THAT(to_text(report, {}), HasSubstr("Go on: -o DIR"));
  report.output = "aligned";
  EXPECT_THAT(to_text(report, {}), Not(HasSubstr("Go on: ")));
  EXPECT_THAT(to_text(report, {}), HasSubstr("maps.csv"));
}

TEST(Sentences, maps_to_a_time_that_no_clock_shows_say_so) {
  AlignReport report;
  report.output = "aligned";
  report.clocks.rows.resize(2);
  EXPECT_THAT(to_text(report, {}), HasSubstr("for a common time that none of them shows"));
  report.clocks.reference = "a";
  EXPECT_THAT(to_text(report, {}), Not(HasSubstr("for a common time")));
}

}  // namespace
}  // namespace entrain::report
