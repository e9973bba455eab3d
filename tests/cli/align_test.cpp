// SPDX-License-Identifier: BSD-3-Clause
//
// `entrain edges` and `entrain align`: tables in, tables out, and bad tables refused.
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/temp_folder_testing.hpp"
#include "cli/tool.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::string text_of(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

class AlignTool : public testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return (folder_ / name).string();
  }
  std::string at(const std::string& name) const { return (folder_ / name).string(); }

  TempFolder folder_;
};

/// The session of b lies 120 ms from what the messages say; that of a, of width 0, is the master's.
TEST_F(AlignTool, names_a_session_that_the_messages_contradict) {
  const std::string edges = put("e.csv",
                                "cause_clock,cause_time,effect_clock,effect_time\n"
                                "a,1763000001000000000,b,1763000000950010000\n"
                                "b,1763000000950020000,a,1763000001000030000\n");
  const std::string clocks = put("c.csv",
                                 "clock,time,offset,half_width\n"
                                 "a,1763000000000000000,0,0\n"
                                 "b,1763000000000000000,-70000000,1000\n");
  const ChildOutcome run = run_tool({"align", edges, "--clocks", clocks, "-o", at("out")});
  EXPECT_EQ(run.exit_code, 3) << run.summary();
  EXPECT_THAT(run.out, HasSubstr("Unproven: a session of b at 1763000000000000000 ticks"));
}

/// Clocks of one machine are one clock; that of the second machine is set by 50 ms.
TEST_F(AlignTool, names_a_step_of_clocks_of_one_machine) {
  std::string rows = "cause_clock,cause_time,effect_clock,effect_time\n";
  const auto shown = [](int clock, std::int64_t time) {
    return 1'763'000'000'000'000'000 + time + (clock >= 2 && time > 200'000'000 ? 50'000'000 : 0);
  };
  for (int i = 0; i < 400; ++i) {
    const std::int64_t time = i * 1'000'000, way = 8'000 + i * 7919 % 4'000;
    const int from = i % 4, to = (from + 1 + i / 4 % 3) % 4;
    rows += fmt::format("h{},{},h{},{}\n", from, shown(from, time), to, shown(to, time + way));
  }
  const std::string edges = put("e.csv", rows);
  const std::string clocks = put("c.csv", "clock,machine\nh0,m0\nh1,m0\nh2,m1\nh3,m1\n");
  const ChildOutcome run = run_tool({"align", edges, "--clocks", clocks, "-o", at("out")});
  EXPECT_EQ(run.exit_code, 0) << run.summary();
  EXPECT_THAT(run.out, HasSubstr("was set by +50.000 ms"));
}

TEST_F(AlignTool, gives_the_maps_of_the_archive) {
  ASSERT_EQ(run_tool({"edges", example("lulesh-8"), "-o", at("e.csv")}).exit_code, 0);
  const ChildOutcome outcome = run_tool({"align", at("e.csv"), "-o", at("out"), "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  const Json report = json_of(outcome);
  EXPECT_EQ(report["schema"], "entrain.align/1");
  EXPECT_EQ(report["before"]["violations"], 608);
  EXPECT_EQ(report["after"]["violations"], 0);
  EXPECT_THAT(text_of(at("out") + "/maps.csv"), HasSubstr("clock,tick,offset\n0,1805480943031,"));
  EXPECT_EQ(text_of(at("out") + "/report.json"), outcome.out);
  EXPECT_FALSE(fs::exists(at("out") + "/bounds.csv"));
}

TEST_F(AlignTool, maps_a_table_and_keeps_the_rest_of_it) {
  // b is 50 ticks late: messages take 10 ticks both ways.
  std::string edges = "cause_clock,cause_time,effect_clock,effect_time\n";
  for (int t = 1000; t < 101'000; t += 2000) {
    edges += "a," + std::to_string(t) + ",b," + std::to_string(t - 40) + "\n";
    edges += "b," + std::to_string(t + 950) + ",a," + std::to_string(t + 1010) + "\n";
  }
  const std::string events = "name;x,\"host\",t\n\"one, \"\"1\"\"\",b,60960\ntwo,a,61010\n";
  const ChildOutcome outcome =
      run_tool({"align", put("e.csv", edges), "-o", at("out"), "--bounds", "--apply",
                put("v.csv", events), "--time-column", "t", "--clock-column", "host"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  const std::string mapped = text_of(at("out") + "/v.csv");
  EXPECT_EQ(mapped.rfind("name;x,\"host\",t\n\"one, \"\"1\"\"\",b,61", 0), 0u) << mapped;
  EXPECT_THAT(text_of(at("out") + "/bounds.csv"), HasSubstr("location,local_ticks"));
}

TEST_F(AlignTool, a_clock_that_moves_beside_a_wrong_one_is_not_right) {
  // b and c stand at 0 and 40,000 ticks, and d at -7,000, of which only c knows.
  const std::vector<std::pair<std::string, int>> clocks{
      {"a", 0}, {"b", 0}, {"c", 40'000}, {"d", -7'000}};
  std::string edges = "cause_clock,cause_time,effect_clock,effect_time\n";
  const auto send = [&](const auto& from, const auto& to, int time) {
    edges += from.first + "," + std::to_string(time + from.second) + "," + to.first + "," +
             std::to_string(time + 10 + to.second) + "\n";
  };
  for (int t = 100'000; t < 1'100'000; t += 2000) {
    for (std::size_t i = 0; i + 1 < clocks.size(); ++i) {
      send(clocks[i], clocks[i + 1], t);
      send(clocks[i + 1], clocks[i], t + 1000);
    }
  }
  const ChildOutcome outcome = run_tool({"align", put("e.csv", edges), "-o", at("out"), "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  const Json rows = json_of(outcome)["clocks"];
  ASSERT_EQ(rows.size(), 4u) << outcome.summary();
  const std::vector<std::string> states{"fast", "slow", "right", "right"};
  for (std::size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(rows[i]["state"], states[i]) << rows;
  EXPECT_NEAR(rows[1]["offset_s"].get<double>(), 7e-6, 1e-7) << rows;
}

TEST_F(AlignTool, says_why_nothing_is_proved) {
  // c is set back by a quarter of the run.
  const std::vector<std::string> names{"a", "b", "c"};
  std::string edges = "cause_clock,cause_time,effect_clock,effect_time\n";
  for (int n = 0; n < 600; ++n) {
    const int from = n % 3, to = (from + 1 + n / 3 % 2) % 3, time = 1'000'000 + 1000 * n;
    const auto shown = [](int clock, int at) {
      return std::to_string(clock == 2 && at > 1'300'000 ? at - 150'000 : at);
    };
    edges += names[from] + "," + shown(from, time) + "," + names[to] + "," +
             shown(to, time + 10 + n % 7) + "\n";
  }
  const ChildOutcome outcome = run_tool({"align", put("e.csv", edges)});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  EXPECT_THAT(outcome.out, testing::StartsWith("Unproven: too many edges contradict the others"));
  EXPECT_THAT(outcome.out, HasSubstr("the clock of c was set back from"));
  const ChildOutcome empty =
      run_tool({"align", put("none.csv", "cause_clock,cause_time,effect_clock,effect_time\n")});
  EXPECT_THAT(empty.out + empty.err, testing::Not(HasSubstr("too many edges"))) << empty.summary();
}

TEST_F(AlignTool, clocks_of_a_group_of_their_own_are_untied_also_if_they_move) {
  // Nothing compares d and e, of which e is 7,000 ticks ahead, with a, b and c.
  std::string edges = "cause_clock,cause_time,effect_clock,effect_time\n";
  for (int t = 100'000; t < 200'000; t += 2000) {
    const auto row = [&](const char* from, int sent, const char* to, int received) {
      edges += fmt::format("{},{},{},{}\n", from, t + sent, to, t + received);
    };
    row("a", 0, "b", 10), row("b", 100, "a", 110);
    row("b", 200, "c", 210), row("c", 300, "b", 310);
    row("d", 400, "e", 7410), row("e", 7500, "d", 510);
  }
  const std::string table = put("e.csv", edges);
  const ChildOutcome outcome = run_tool({"align", table, "-o", at("out"), "--json"});
  const Json rows = json_of(outcome)["clocks"];
  ASSERT_EQ(rows.size(), 5u) << outcome.summary();
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(rows[i]["state"], i < 3 ? "right" : "untied");
  EXPECT_THAT(run_tool({"align", table, "-o", at("out"), "--force"}).out,
              HasSubstr("3 clocks are right. Nothing ties 2 clocks to the others, of which "));
}

TEST_F(AlignTool, sets_clocks_by_ends_that_coincide) {
  // c is 500,000 ticks early, but waits for long in barriers: without their ends it may be set
  // anywhere in the middle of what edges allow.
  std::string edges = "clock,begin,end,instance,kind,sync\n";
  for (int i = 1; i <= 20; ++i) {
    const std::string instance = std::to_string(i) + ",n_to_n,true\n";
    const int end = i * 10'000'000;
    edges += "a," + std::to_string(end - 50'000) + "," + std::to_string(end) + "," + instance;
    edges += "b," + std::to_string(end - 90'000) + "," + std::to_string(end + 2) + "," + instance;
    edges += "c," + std::to_string(end - 2'000'000) + "," + std::to_string(end - 500'000 + i % 3) +
             "," + instance;
  }
  const ChildOutcome outcome = run_tool({"align", put("e.csv", edges), "-o", at("out"), "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  const Json report = json_of(outcome);
  EXPECT_EQ(report["after"]["violations"], 0);
  EXPECT_THAT(std::string(report["timeline"]["reason"]), HasSubstr("coincide within"));
  std::istringstream maps(text_of(at("out") + "/maps.csv"));
  int rows_of_c = 0;
  for (std::string row; std::getline(maps, row);) {
    if (row.rfind("c,", 0) != 0) continue;
    ++rows_of_c;
    EXPECT_NEAR(std::stod(row.substr(row.rfind(',') + 1)), 500'000, 5) << row;
  }
  EXPECT_EQ(rows_of_c, 2);
}

TEST_F(AlignTool, counts_the_largest_margin_that_there_is) {
  const std::string edges =
      "cause_clock,cause_time,effect_clock,effect_time\n"
      "a,0,b,4611686018427387904\n";
  const ChildOutcome outcome =
      run_tool({"align", put("e.csv", edges), "--presync", "none", "--json"});
  const Json report = json_of(outcome);
  EXPECT_EQ(report["before"]["edges"]["p2p"]["count"], 1) << outcome.summary();
  EXPECT_EQ(report["before"]["edges"]["p2p"]["worst"]["receive"]["process"], "b");
}

TEST_F(AlignTool, replaces_results_of_its_own_only) {
  const std::string table =
      put("e.csv", "cause_clock,cause_time,effect_clock,effect_time\na,1,b,2\n");
  ASSERT_EQ(run_tool({"align", table, "-o", at("out")}).exit_code, 0);
  EXPECT_EQ(run_tool({"align", table, "-o", at("out"), "--force"}).exit_code, 0);
  put("out/notes.txt", "mine");
  expect_refusal(run_tool({"align", table, "-o", at("out"), "--force"}), "notes.txt was added");
  EXPECT_EQ(text_of(at("out/notes.txt")), "mine");
}

TEST_F(AlignTool, takes_the_kind_of_clocks_from_their_table) {
  std::string edges = "cause_clock,cause_time,effect_clock,effect_time\n";
  for (int t = 1000; t < 101'000; t += 2000) {
    edges += "a," + std::to_string(t) + ",b," + std::to_string(t + 60) + "\n";
    edges += "b," + std::to_string(t + 950) + ",a," + std::to_string(t + 1010) + "\n";
  }
  const std::string table = put("e.csv", edges);
  const std::string clocks = put("c.csv", "clock,kind\na,\nb,wall\n");
  const auto kind_told = [&](std::vector<std::string> more) {
    std::vector<std::string> words{"align", table, "--clocks", clocks, "--bounds", "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Json report = json_of(run_tool(words));
    return report["bounds"]["clock_kind"].get<std::string>();
  };
  EXPECT_EQ(kind_told({}), "wall");
  EXPECT_EQ(kind_told({"--clock-kind", "timer"}), "timer");
}

TEST_F(AlignTool, refuses_bad_tables_in_one_sentence) {
  const std::string head = "cause_clock,cause_time,effect_clock,effect_time\n";
  const std::vector<std::pair<std::string, std::string>> tables{
      {"", "is empty"},
      {"cause_clock,cause_time,effect_clock\na,1,b\n", "line 1, column effect_time: the column is"},
      {head + "a,1,b,2\na,-5,b,2\n", "line 3, column cause_time: \"-5\" is negative"},
      {head + "a,1.5,b,2\n", "line 2: whole and other times are mixed; name their --unit"},
      {head + "a,1,b,99999999999999999999\n",
       "column effect_time: \"99999999999999999999\" is too"},
      {head + "a,1,,2\n", "line 2, column effect_clock: is missing"},
      {head + "a,1,b\n", "line 2: the row has 3 fields, the header 4"},
      {head + "a,1,b,\"2\n", "line 2: a quoted field does not end"},
      {head + "\"a\"x,1,b,2\n", "line 2: something stands between a quoted field"},
      {head + "\xFF,1,b,2\n", "line 2, column cause_clock: the name is no UTF-8"},
      {"{\"cause_clock\": 1, \"cause_time\": 2}\n", "line 1, column effect_clock: is missing"},
      {"{\"cause_clock\": [1]}\n", "line 1, column cause_clock: this is neither text"},
      {"{\"cause_clock\": 1", "line 1: this is no JSON object"},
      {"clock,begin,end,instance\na,1,2,7\na,3,4,7\n", "clock a has two begins in the instance"},
      {"clock,begin,end,instance,kind\na,1,2,7,scan\nb,3,4,7,n_to_n\n",
       "line 3, column kind: another row of the instance has another kind"},
      {head.substr(0, head.size() - 1) + ",role\na,1,b,2,begin\n", "column instance: is missing"},
      {head.substr(0, head.size() - 1) + ",min_delay\na,1,b,2,-1\n", "\"-1\" is negative"}};
  for (const auto& [text, complaint] : tables) {
    SCOPED_TRACE(text);
    expect_refusal(run_tool({"align", put("bad", text), "-o", at("out")}), complaint);
    EXPECT_FALSE(fs::exists(at("out")));
  }
}

TEST_F(AlignTool, refuses_bad_clocks_in_one_sentence) {
  const std::string edges =
      put("e.csv", "cause_clock,cause_time,effect_clock,effect_time\na,1,b,2\n");
  const std::vector<std::pair<std::string, std::string>> tables{
      {"clock\na\n", "line 2, column effect_clock: clock b is not in the table of clocks"},
      {"clock\na\nb\na\n", "line 4, column clock: clock a is described twice"},
      {"name\na\n", "line 1, column clock: the column is missing"},
      {"clock,kind\na,sundial\n", "\"sundial\" is neither timer nor wall"},
      {"clock,time,offset\na,5,1\na,5,2\nb,1,1\n", "two sessions at this time"},
      {"clock,time,offset\na,x,1\n", "line 2, column time: \"x\" is neither a number nor"},
      {"clock,time,offset,half_width\na,5,1,-2\n", "column half_width: \"-2\" is negative"}};
  for (const auto& [text, complaint] : tables) {
    SCOPED_TRACE(text);
    expect_refusal(run_tool({"align", edges, "--clocks", put("c.csv", text), "-o", at("out")}),
                   complaint);
    EXPECT_FALSE(fs::exists(at("out")));
  }
}

TEST_F(AlignTool, writes_nothing_over_other_files) {
  const std::string edges =
      put("e.csv", "cause_clock,cause_time,effect_clock,effect_time\na,1,b,2\n");
  fs::create_directory(at("mine"));
  put("mine/file", "x");
  expect_refusal(run_tool({"align", edges, "-o", at("mine"), "--force"}),
                 "has no mark of a result");
  expect_refusal(run_tool({"edges", example("lulesh-8"), "-o", edges}), "exists");
  expect_refusal(run_tool({"align", edges, "--apply", edges}), "are of use together only");
  const std::string table = put("t.csv", "t,c\n1,z\n");
  expect_refusal(run_tool({"align", edges, "-o", at("out"), "--apply", table, "--time-column", "t",
                           "--clock-column", "c"}),
                 "line 2, column c: there is no clock \"z\"");
  EXPECT_FALSE(fs::exists(at("out")));
  const std::string lonely = put("l.csv", "cause_clock,cause_time,effect_clock,effect_time\n");
  EXPECT_EQ(run_tool({"align", lonely}).exit_code, 3);
}

}  // namespace
}  // namespace entrain::test
