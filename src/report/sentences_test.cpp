// SPDX-License-Identifier: BSD-3-Clause
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/printable.hpp"
#include "report/clock_report.hpp"
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

TEST(Sentences, an_alignment_that_wrote_nothing_says_how_to) {
  AlignReport report;
  EXPECT_THAT(to_text(report, {}), HasSubstr("Go on: -o DIR"));
  report.output = "aligned";
  EXPECT_THAT(to_text(report, {}), Not(HasSubstr("Go on: ")));
  EXPECT_THAT(to_text(report, {}), HasSubstr("maps.csv"));
}

}  // namespace
}  // namespace entrain::report
