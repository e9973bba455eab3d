// SPDX-License-Identifier: BSD-3-Clause
#include "net/paper/published.hpp"

#include <map>

#include <gtest/gtest.h>

namespace entrain::net {
namespace {

TEST(Published, every_value_matches_but_for_two_misprints) {
  std::map<std::string, int> cells;
  std::vector<std::string> misprints;
  for (const PublishedCell& cell : published_cells()) {
    ++cells[cell.table];
    EXPECT_NE(cell.verdict, Verdict::differs)
        << cell.table << ", " << cell.row << ", " << cell.column << ": " << cell.published
        << " is printed, " << cell.computed << " computed";
    if (cell.verdict == Verdict::matches) {
      EXPECT_EQ(cell.published, cell.computed);
    } else {
      misprints.push_back(cell.published + " for " + cell.computed);
    }
  }
  EXPECT_EQ(misprints, (std::vector<std::string>{"5 for 4", "298 for 287"}));
  EXPECT_EQ(cells["table 1"], 64);
  EXPECT_EQ(cells["table 2"], 80);
  EXPECT_EQ(cells["table 3"], 20);
  EXPECT_EQ(cells["table 4"], 15);
}

TEST(Published, the_printed_reading_gives_other_values) {
  const auto printed = [](const std::string& row, const std::string& column) {
    for (const PublishedCell& cell : published_cells()) {
      if (cell.row == row && cell.column == column) return cell.printed_reading;
    }
    return std::string("no such cell");
  };
  EXPECT_EQ(printed("bounded skew, one switch", "ns"), "165");
  EXPECT_EQ(printed("100 ppm", "interval, slots"), "4867");
}

TEST(Published, figures_hold_the_named_points) {
  const auto figures = published_figures();
  ASSERT_EQ(figures.size(), 4u);
  EXPECT_EQ(figures[0].name, "figure-4");
  EXPECT_DOUBLE_EQ(figures[0].series[0].points.front().second, 287.48);
  EXPECT_DOUBLE_EQ(figures[0].series[0].points.back().second, 197.48);
  EXPECT_DOUBLE_EQ(figures[2].series[0].points.back().second, 1053.48);
  EXPECT_DOUBLE_EQ(figures[3].series[1].points.front().second, 9.22324);
}

}  // namespace
}  // namespace entrain::net
