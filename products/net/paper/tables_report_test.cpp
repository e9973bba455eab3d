// SPDX-License-Identifier: BSD-3-Clause
#include "net/paper/tables_report.hpp"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace entrain::net {
namespace {

using testing::HasSubstr;

TEST(TablesReport, misprints_do_not_count_as_differing) {
  TablesReport report;
  EXPECT_EQ(report.differing(), 0u);
  EXPECT_THAT(to_text(report, {}), HasSubstr("0 of 0 published values match; 0 differ.\n"));
  report.cells = {{.table = "text", .published = "1", .verdict = Verdict::misprint, .note = "why"},
                  {.table = "text", .published = "2", .verdict = Verdict::matches},
                  {.table = "text", .published = "3", .verdict = Verdict::differs}};
  EXPECT_EQ(report.differing(), 1u);
  EXPECT_THAT(to_text(report, {}), HasSubstr("1 of 3 published values match; 1 differ.\n"));
  EXPECT_EQ(to_json(report)["differing"], 1);
}

TEST(TablesReport, matching_entries_of_the_schedules_are_shown_on_request) {
  TablesReport report;
  report.cells = {{.table = "table 1", .row = "slot 5", .verdict = Verdict::matches},
                  {.table = "table 2", .row = "slot 6", .verdict = Verdict::differs}};
  report::Style style;
  EXPECT_THAT(to_text(report, style), testing::Not(HasSubstr("slot 5")));
  EXPECT_THAT(to_text(report, style), HasSubstr("slot 6"));
  style.verbose = true;
  EXPECT_THAT(to_text(report, style), HasSubstr("slot 5"));
}

TEST(TablesReport, the_points_that_the_paper_names_are_marks) {
  const Plot plot = figure_plot({.name = "f",
                                 .title = "t",
                                 .x_label = "x",
                                 .y_label = "y",
                                 .series = {{"a", {{1, 2}}}, {"named in the paper", {}}}});
  ASSERT_EQ(plot.series.size(), 2u);
  EXPECT_FALSE(plot.series[0].marks_only);
  EXPECT_TRUE(plot.series[1].marks_only);
}

}  // namespace
}  // namespace entrain::net
