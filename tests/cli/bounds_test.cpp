// SPDX-License-Identifier: BSD-3-Clause
// check and correct --bounds, --bounds-csv and --max-rate-ppm, as users type them.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "cli/tool.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

std::string read_text(const fs::path& file) {
  const Bytes bytes = read_bytes(file);
  return {bytes.begin(), bytes.end()};
}

std::vector<std::vector<std::string>> table_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) {
    rows.emplace_back();
    std::istringstream cells(line + ",");
    for (std::string cell; std::getline(cells, cell, ',');) rows.back().push_back(cell);
  }
  return rows;
}

TEST(Bounds, checks_tell_how_far_times_may_be_trusted) {
  const Json json = json_of(run_tool({"check", example("amg-8"), "--json", "--bounds"}));
  ASSERT_TRUE(json.contains("bounds"));
  const Json& bounds = json["bounds"];
  expect_members(bounds, {"reference",
                          "reference_process",
                          "max_rate_ppm",
                          "max_rate_source",
                          "least_rate_ppm",
                          "mu_source",
                          "sessions",
                          "windows",
                          "window_s",
                          "unbounded_clocks",
                          "held_s",
                          "worst",
                          "outside",
                          "locations",
                          "clock_kind",
                          "clock_kind_source",
                          "mean_rate_ppm",
                          "mean_rate_source",
                          "least_mean_rate_ppm",
                          "proved_s",
                          "assumed_s",
                          "assumed_sessions",
                          "assumed_half_width_s",
                          "helpful_session"});
  EXPECT_EQ(bounds["max_rate_source"], "trace");
  EXPECT_EQ(bounds["unbounded_clocks"], 0);
  ASSERT_EQ(bounds["locations"].size(), 8u);
  expect_members(bounds["locations"][0], {"id", "worst_s", "proved_s", "assumed_s", "median_s",
                                          "outside_s", "windows", "unbounded_windows"});
  double worst = 0;
  for (const Json& location : bounds["locations"]) {
    worst = std::max(worst, location["worst_s"].get<double>());
    EXPECT_LE(location["median_s"], location["worst_s"]);
  }
  EXPECT_EQ(bounds["worst"]["bound_s"], worst);
  EXPECT_EQ(bounds["proved_s"], worst);
  EXPECT_EQ(bounds["clock_kind"], "timer");
  EXPECT_EQ(bounds["clock_kind_source"], "stamps");
  const std::string text = run_tool({"check", example("amg-8"), "--bounds"}).out;
  EXPECT_NE(text.find("Clocks are certain to within "), std::string::npos) << text;
  EXPECT_NE(text.find("if no clock's rate leaves its mean"), std::string::npos) << text;
}

TEST(Bounds, the_user_may_know_the_clocks_better) {
  const auto bounds = [](std::vector<std::string> more) {
    more.insert(more.begin(), {"check", example("lulesh-8.truth"), "--json", "--bounds"});
    return json_of(run_tool(more))["bounds"];
  };
  const Json wall = bounds({"--clock-kind", "wall"});
  EXPECT_EQ(wall["clock_kind"], "wall");
  EXPECT_EQ(wall["clock_kind_source"], "given");
  EXPECT_EQ(wall["mean_rate_ppm"], 500);
  const Json given = bounds({"--max-mean-rate-ppm", "20"});
  EXPECT_EQ(given["mean_rate_ppm"], 20);
  EXPECT_EQ(given["mean_rate_source"], "given");
  const Json off = bounds({"--max-mean-rate-ppm", "off"});
  EXPECT_TRUE(off["mean_rate_ppm"].is_null());
  EXPECT_EQ(off["mean_rate_source"], "off");
  EXPECT_LE(given["proved_s"], off["proved_s"]);
  for (const char* const bad : {"-1", "100001", "on", ""}) {
    const auto run = run_tool({"check", example("lulesh-8.truth"), "--max-mean-rate-ppm", bad});
    EXPECT_EQ(run.exit_code, 2) << bad;
    EXPECT_NE(run.err.find("--max-mean-rate-ppm"), std::string::npos) << run.err;
  }
}

/// Eight timers, straight within 1.1 ppm, and 28 messages in 10 s, of which an estimate gets lines
/// that are wrong by 1,000 ppm. Limits were told about these: possible from 18 ppm on, and mean
/// rates of 250 ppm under a limit of 200.
TEST(Bounds, limits_that_are_told_hold_and_are_the_least_ones) {
  const TempFolder scratch;
  const fs::path edges = scratch / "edges.csv";
  std::ofstream(edges) << "cause_clock,cause_time,effect_clock,effect_time\n"
                          "c2,1084991,c3,2208435\n"
                          "c7,2746057,c3,2208435\n"
                          "c4,2853979,c3,2208435\n"
                          "c5,1369753,c3,2208435\n"
                          "c1,2207746,c2,1086692\n"
                          "c0,2000001,c2,1084991\n"
                          "c5,1369753,c2,1084991\n"
                          "c1,2207746,c7,2746057\n"
                          "c0,22119542,c1,22326854\n"
                          "c1,751304776,c7,751856219\n"
                          "c7,1663169289,c1,1662601884\n"
                          "c4,1715901520,c6,1714309051\n"
                          "c5,4611757256,c4,4613317894\n"
                          "c4,5162067461,c6,5160324807\n"
                          "c3,6911406224,c1,6911134483\n"
                          "c1,7182284918,c6,7181394029\n"
                          "c3,7990892323,c4,7991539399\n"
                          "c3,8066448236,c2,8065321933\n"
                          "c1,8576846008,c7,8577513005\n"
                          "c2,9124934053,c3,9126061116\n"
                          "c2,10001276990,c4,10003045979\n"
                          "c7,10002685213,c6,10001116847\n"
                          "c5,10001361752,c2,10001277862\n"
                          "c5,10001361752,c0,10001992001\n"
                          "c7,10002685213,c5,10001361752\n"
                          "c1,10001999745,c0,10001992001\n"
                          "c2,10001276990,c6,10001116848\n"
                          "c6,10001116847,c3,10002400434\n";
  std::ofstream(scratch / "edges.clocks.csv") << "clock,kind,first,last\n"
                                                 "c0,timer,2000000,10002000000\n"
                                                 "c1,timer,2207745,10002007745\n"
                                                 "c2,timer,1084990,10001284990\n"
                                                 "c3,timer,2208434,10002408434\n"
                                                 "c4,timer,2853978,10003053978\n"
                                                 "c5,timer,1369752,10001369752\n"
                                                 "c6,timer,1324847,10001124847\n"
                                                 "c7,timer,2746056,10002693213\n";
  const auto align = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"align", edges.string(), "-o", (scratch / "out").string(), "--force",
                               "--bounds", "--json"});
    return run_tool(more);
  };
  struct Case {
    std::vector<std::string> options;
    double mean_ppm = 0;
  };
  for (const Case& one :
       {Case{{}, 200}, Case{{"--max-rate-ppm", "6", "--max-mean-rate-ppm", "21"}, 21}}) {
    const Json report = json_of(align(one.options));
    EXPECT_NEAR(report["bounds"]["least_rate_ppm"].get<double>(), 1.076, 0.005);
    EXPECT_EQ(report["after"]["violations"], 0);
    std::map<std::string, std::vector<std::pair<double, double>>> knots;
    for (const auto& row : table_of(scratch / "out" / "maps.csv")) {
      if (row[0] != "clock") knots[row[0]].emplace_back(std::stod(row[1]), std::stod(row[2]));
    }
    for (const auto& [clock, own] : knots) {
      const double life = own.back().first - own.front().first;
      if (life <= 0) continue;
      EXPECT_LE(std::abs(own.back().second - own.front().second), life * one.mean_ppm * 1e-6 + 2)
          << clock;
    }
  }
  const ChildOutcome refused = align({"--max-rate-ppm", "1"});
  expect_refusal(refused, "--max-rate-ppm 1 is too small for");
  EXPECT_NE(refused.err.find("1.07"), std::string::npos) << refused.err;
  EXPECT_NE(align({"--max-rate-ppm", "1.08"}).exit_code, 2);
}

TEST(Bounds, are_not_there_unless_asked_for) {
  EXPECT_FALSE(json_of(run_tool({"check", example("amg-8"), "--json"})).contains("bounds"));
}

TEST(Bounds, the_file_has_a_line_per_location_and_window) {
  const TempFolder scratch;
  const fs::path file = scratch / "bounds.csv";
  const Json json =
      json_of(run_tool({"correct", example("lulesh-8"), "-o", (scratch / "out").string(), "--json",
                        "--max-rate-ppm", "20000", "--bounds-csv", file.string()}));
  ASSERT_TRUE(json.contains("bounds"));
  ASSERT_TRUE(json["before"].contains("bounds"));
  EXPECT_EQ(json["bounds"]["max_rate_ppm"], 20000);
  EXPECT_EQ(json["bounds"]["max_rate_source"], "given");
  EXPECT_TRUE(json["phases_s"].contains("bounds"));
  const auto rows = table_of(file);
  ASSERT_GT(rows.size(), 1u);
  EXPECT_EQ(rows[0],
            (std::vector<std::string>{"location", "local_ticks", "time_ticks", "time_s",
                                      "offset_ticks", "least_offset_ticks", "most_offset_ticks",
                                      "bound_s", "proved_s", "assumed_s"}));
  std::uint64_t windows = 0;
  for (const Json& location : json["bounds"]["locations"]) {
    windows += location["windows"].get<std::uint64_t>();
  }
  EXPECT_EQ(rows.size() - 1, windows);
  for (std::size_t r = 1; r < rows.size(); ++r) {
    ASSERT_EQ(rows[r].size(), 10u);
    EXPECT_EQ(std::stoll(rows[r][2]), std::stoll(rows[r][1]) + std::stoll(rows[r][4]));
    EXPECT_LE(std::stoll(rows[r][5]), std::stoll(rows[r][6]));
    EXPECT_GE(std::stod(rows[r][7]), 0);
  }
}

TEST(Bounds, corrections_are_held_inside) {
  const TempFolder scratch;
  const std::string output = (scratch / "out").string();
  const std::vector<std::string> how{"--presync", "linear",   "--amortize",
                                     "off",       "--bounds", "--json"};
  std::vector<std::string> words{"correct", example("lulesh-8"), "-o", output};
  words.insert(words.end(), how.begin(), how.end());
  const Json json = json_of(run_tool(words));
  EXPECT_GT(json["before"]["bounds"]["outside"]["outside_s"], 1e-5);
  EXPECT_TRUE(json["bounds"]["outside"].is_null());
  EXPECT_GT(json["bounds"]["held_s"], 1e-5);
  EXPECT_GT(json["timeline"]["shift_s"]["max"], 1e-5);
  const std::string info = run_tool({"info", output}).out;
  EXPECT_NE(info.find("held_to_ppm="), std::string::npos) << info;
}

TEST(Bounds, a_trace_in_which_nothing_is_violated_stays) {
  const TempFolder scratch;
  const std::string once = (scratch / "1").string(), twice = (scratch / "2").string();
  ASSERT_EQ(run_tool({"correct", example("lulesh-8"), "-o", once, "--presync", "linear", "--mode",
                      "overlay"})
                .exit_code,
            0);
  const Json json =
      json_of(run_tool({"correct", once, "-o", twice, "--bounds", "--mode", "overlay", "--json"}));
  EXPECT_EQ(json["before"]["violations"], 0);
  EXPECT_EQ(json["bounds"]["held_s"], 0);
  EXPECT_EQ(json["timeline"]["shift_s"]["max"], 0);
}

TEST(Bounds, do_not_depend_on_threads) {
  const TempFolder scratch;
  std::string expected;
  for (const char* threads : {"1", "2", "3", "8"}) {
    const fs::path file = scratch / threads;
    const ChildOutcome outcome = run_tool({"check", example("lulesh-8"), "--json", "--bounds-csv",
                                           file.string(), "--threads", threads});
    const std::string found = outcome.out + read_text(file);
    if (expected.empty()) expected = found;
    EXPECT_EQ(found, expected) << threads;
  }
}

TEST(Bounds, refuse_a_limit_that_the_trace_breaks) {
  const TempFolder scratch;
  const fs::path output = scratch / "out";
  expect_refusal(
      run_tool({"correct", example("lulesh-8"), "-o", output.string(), "--max-rate-ppm", "1"}),
      "--max-rate-ppm 1 is too small for");
  EXPECT_FALSE(fs::exists(output));
}

TEST(Bounds, refuse_a_file_that_exists_or_has_no_folder_before_any_work) {
  const TempFolder scratch;
  const fs::path output = scratch / "out";
  for (const fs::path& file : {scratch / "", output, scratch / "none" / "bounds.csv"}) {
    const ChildOutcome outcome = run_tool(
        {"correct", example("lulesh-8"), "-o", output.string(), "--bounds-csv", file.string()});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.summary();
    EXPECT_EQ(line_count(outcome.err), 1u) << outcome.err;
    EXPECT_FALSE(fs::exists(output));
  }
}

TEST(Bounds, of_a_rewritten_archive_there_are_none) {
  const TempFolder scratch;
  const std::string output = (scratch / "out").string();
  ASSERT_EQ(run_tool({"correct", example("amg-8"), "-o", output}).exit_code, 0);
  const Json json = json_of(run_tool({"check", output, "--json", "--bounds"}));
  EXPECT_NE(json["bounds"]["reason"].get<std::string>().find("rewritten"), std::string::npos);
  const std::string text = run_tool({"check", output, "--bounds"}).out;
  EXPECT_NE(text.find("No error bounds: "), std::string::npos) << text;
}

}  // namespace
}  // namespace entrain::test
