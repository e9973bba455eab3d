// SPDX-License-Identifier: BSD-3-Clause
//
// The verbs on recorded traces, as a user calls them.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <thread>

#include <gmock/gmock.h>
#include <sys/wait.h>

#include "cli/tool.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> k_kinds{"p2p",  "one_to_n", "n_to_one", "n_to_n",
                                       "scan", "thread",   "rma",      "init_finalize"};

std::string contents(const std::string& path) {
  const auto bytes = read_bytes(path);
  return {bytes.begin(), bytes.end()};
}

void expect_check(const Json& json) {
  EXPECT_EQ(json["schema"], "entrain.check/1");
  expect_members(json, {"archive", "locations", "events", "resolution_hz", "presync", "edges",
                        "violations", "below_latency", "mu_s", "unmatched", "skipped", "coverage",
                        "verdict", "checked_edges", "completeness"});
  ASSERT_EQ(json["edges"].size(), k_kinds.size());
  for (const std::string& kind : k_kinds) {
    const Json& edges = json["edges"][kind];
    expect_members(edges, {"count", "violations", "below_latency", "worst_s", "worst"});
    EXPECT_EQ(edges["count"] == 0, edges["worst"].is_null()) << kind;
    EXPECT_LE(edges["violations"], edges["below_latency"]) << kind;
    if (edges["worst"].is_null()) continue;
    for (const char* end : {"send", "receive"})
      expect_members(edges["worst"][end], {"location", "process", "region", "time_s", "ticks"});
  }
}

TEST(Info, tells_what_is_in_an_archive) {
  const ChildOutcome outcome = run_tool({"info", "--json", example("lulesh-8")});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  EXPECT_EQ(outcome.err, "");
  const Json json = json_of(outcome);
  EXPECT_EQ(json["schema"], "entrain.info/1");
  EXPECT_EQ(json["locations"], 8);
  EXPECT_EQ(json["events"], 131216);
  EXPECT_GT(json["clock_offset_records"], 0);
  EXPECT_THAT(run_tool({"info", example("lulesh-8")}).out, HasSubstr("131,216"));
}

TEST(Info, takes_the_anchor_file_or_its_folder) {
  const std::string anchor = anchor_in(example("allops-4")).string();
  EXPECT_EQ(json_of(run_tool({"info", "--json", anchor})),
            json_of(run_tool({"info", "--json", example("allops-4")})));
}

TEST(Check, finds_violations) {
  const ChildOutcome outcome = run_tool({"check", "--json", example("lulesh-8")});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.summary();
  EXPECT_EQ(outcome.err, "");
  const Json json = json_of(outcome);
  expect_check(json);
  EXPECT_EQ(json["presync"], "linear");
  EXPECT_EQ(json["edges"]["p2p"]["count"], 10856);
  EXPECT_EQ(json["edges"]["p2p"]["violations"], 461);
  EXPECT_NEAR(json["edges"]["p2p"]["worst_s"].get<double>(), -33.959e-6, 1e-9);
}

TEST(Check, finds_none_where_there_are_none) {
  for (const char* name : {"lulesh-8.truth", "amg-8.truth", "allops-4.truth"}) {
    const ChildOutcome outcome = run_tool({"check", "--json", example(name)});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
    const Json json = json_of(outcome);
    expect_check(json);
    EXPECT_EQ(json["violations"], 0) << name;
  }
}

TEST(Check, strict_latency_counts_what_is_too_close) {
  const std::vector<std::string> loose{"check", "--mu", "1e-3", example("lulesh-8.truth")};
  EXPECT_EQ(run_tool(loose).exit_code, 0);
  std::vector<std::string> strict = loose;
  strict.push_back("--strict-latency");
  EXPECT_EQ(run_tool(strict).exit_code, 1);
}

TEST(Check, prints_a_table_for_people) {
  const ChildOutcome outcome = run_tool({"check", example("lulesh-8")});
  EXPECT_EQ(outcome.err, "");
  EXPECT_THAT(outcome.out, HasSubstr("p2p"));
  EXPECT_THAT(outcome.out, HasSubstr("-33.96 us"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("\x1b")));  // no terminal, no colours
}

TEST(Check, does_not_depend_on_threads) {
  const Json one = json_of(run_tool({"check", "--json", "--threads", "1", example("allops-4")}));
  const Json many = json_of(run_tool({"check", "--json", "--threads", "7", example("allops-4")}));
  EXPECT_EQ(one, many);
}

TEST(Check, refuses_what_is_no_archive) {
  const TempFolder folder;
  expect_refusal(run_tool({"check", (folder / "none").string()}), (folder / "none").string());
  expect_refusal(run_tool({"check", folder.path().string()}), folder.path().string());
  write_bytes(folder / "traces.otf2", {'n', 'o'});
  expect_refusal(run_tool({"check", "--json", folder.path().string()}), "traces.otf2");
}

TEST(Check, survives_names_that_are_not_utf8) {
  const TempFolder folder;
  const std::string odd = (folder / "caf\xE9\x1b[2J").string();
  expect_refusal(run_tool({"check", odd}), "caf\xEF\xBF\xBD\\u001b[2J");
  copy_tree(example("allops-4"), odd);
  const Json json = json_of(run_tool({"check", "--json", odd}));
  EXPECT_THAT(json["archive"].get<std::string>(), HasSubstr("caf\xEF\xBF\xBD"));
  const std::string table = run_tool({"check", "-v", odd}).out;
  EXPECT_TRUE(table.starts_with("Violations: ")) << table;
  EXPECT_THAT(table, HasSubstr("caf\xEF\xBF\xBD\\u001b[2J"));
  EXPECT_THAT(table, Not(HasSubstr("\x1b")));
}

TEST(Check, fails_if_its_report_cannot_be_written) {
  expect_refusal(run_shell("\"$0\" check --json '" + example("allops-4") + "' > /dev/full"),
                 "standard output");
}

class CorrectMode : public testing::TestWithParam<std::string> {};

TEST_P(CorrectMode, leaves_no_violations_and_the_input_alone) {
  const TempFolder folder;
  const std::string output = (folder / "out").string();
  const auto before = digest_tree(example("lulesh-8"));
  const ChildOutcome outcome =
      run_tool({"correct", "--json", example("lulesh-8"), "-o", output, "--mode", GetParam()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  EXPECT_EQ(outcome.err, "");
  EXPECT_EQ(digest_tree(example("lulesh-8")), before);
  EXPECT_EQ(entries_of(folder.path()), std::vector<std::string>{"out"});

  const Json json = json_of(outcome);
  EXPECT_EQ(json["schema"], "entrain.correct/1");
  expect_members(json, {"before", "after", "mode", "passes", "moved_events", "displacement_s",
                        "interval_change", "max_slope", "phases_s", "peak_memory_bytes"});
  expect_check(json["before"]);
  expect_check(json["after"]);
  EXPECT_EQ(json["mode"], GetParam());
  EXPECT_GT(json["before"]["violations"], 0);
  EXPECT_EQ(json["after"]["violations"], 0);
  EXPECT_EQ(json["order_broken"], 0);
  int chosen = 0;
  for (const Json& pass : json["passes"]) {
    expect_members(pass, {"gamma", "error", "max_displacement_s", "violations"});
    if (pass["chosen"] == true) ++chosen;
  }
  EXPECT_EQ(chosen, 1) << json["passes"];
  EXPECT_EQ(run_tool({"check", output}).exit_code, 0);
}

INSTANTIATE_TEST_SUITE_P(Modes, CorrectMode, testing::Values("rewrite", "overlay"));

TEST(Correct, refuses_an_existing_folder_unless_forced) {
  const TempFolder folder;
  const std::string output = (folder / "out").string();
  write_bytes(folder / "file", {'x'});
  ASSERT_EQ(run_tool({"correct", example("allops-4"), "-o", output}).exit_code, 0);
  const auto before = digest_tree(output);
  expect_refusal(run_tool({"correct", example("allops-4"), "-o", output}), output);
  EXPECT_EQ(digest_tree(output), before);
  const ChildOutcome forced = run_tool({"correct", example("allops-4"), "-o", output, "--force"});
  EXPECT_EQ(forced.exit_code, 0) << forced.summary();
  EXPECT_EQ(digest_tree(output), before);
}

TEST(Correct, never_writes_into_its_input) {
  const TempFolder folder;
  copy_tree(example("allops-4"), folder / "in");
  const auto before = digest_tree(folder / "in");
  const std::string input = (folder / "in").string();
  const ChildOutcome outcome = run_tool({"correct", input, "-o", input, "--force"});
  EXPECT_EQ(outcome.exit_code, 2) << outcome.summary();
  EXPECT_EQ(digest_tree(folder / "in"), before);
}

TEST(Correct, tells_what_an_overlay_needs) {
  const TempFolder folder;
  const ChildOutcome outcome =
      run_tool({"correct", example("allops-4"), "-o", (folder / "out").string(), "--mode",
                "overlay", "--link", "symbolic"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  EXPECT_THAT(outcome.out, HasSubstr("must stay where they are"));
}

TEST(Correct, takes_a_fixed_gamma_without_verification) {
  const TempFolder folder;
  const ChildOutcome outcome =
      run_tool({"correct", "--json", example("allops-4"), "-o", (folder / "out").string(),
                "--gamma", "0.99", "--backward", "off", "--no-verify"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  const Json json = json_of(outcome);
  ASSERT_EQ(json["passes"].size(), 1u);
  EXPECT_EQ(json["passes"][0]["gamma"], 0.99);
  for (const char* unknown :
       {"after", "moved_events", "displacement_s", "interval_change", "max_slope"})
    EXPECT_TRUE(json[unknown].is_null()) << unknown;
}

TEST(Correct, tells_loudly_what_it_could_not_read) {
  const TempFolder folder;
  const std::string input = (folder / "in").string();
  copy_tree(example("allops-4.truth"), input);
  const std::string sentence = "not everything could be read: 1 event file is missing";
  std::filesystem::remove(folder / "in" / "traces" / "2.evt");
  const ChildOutcome checked = run_tool({"check", input});
  EXPECT_EQ(checked.exit_code, 0) << checked.summary();
  EXPECT_THAT(verdict_of(checked.out), HasSubstr(sentence));
  const ChildOutcome corrected = run_tool({"correct", input, "-o", (folder / "out").string()});
  EXPECT_EQ(corrected.exit_code, 0) << corrected.summary();
  EXPECT_THAT(verdict_of(corrected.out), HasSubstr(sentence));
}

TEST(Correct, interrupted_leaves_nothing_incomplete_behind) {
  for (const int delay_ms : {0, 5, 10, 20, 40, 80, 160}) {
    const TempFolder folder;
    const std::string output = (folder / "out").string();
    const pid_t child = start_program({ENTRAIN_BINARY, "correct", example("amg-8"), "-o", output});
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    ::kill(child, SIGTERM);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status)) continue;  // before the tool had a handler, so before any output
    EXPECT_THAT(WEXITSTATUS(status), testing::AnyOf(0, 130)) << delay_ms;
    if (!std::filesystem::exists(output)) {
      EXPECT_EQ(WEXITSTATUS(status), 130) << delay_ms;
      EXPECT_EQ(entries_of(folder.path()), std::vector<std::string>{}) << delay_ms;
    } else {  // the signal came too late
      EXPECT_EQ(WEXITSTATUS(status), 0) << delay_ms;
      EXPECT_EQ(run_tool({"check", output}).exit_code, 0) << delay_ms;
      EXPECT_EQ(entries_of(folder.path()), std::vector<std::string>{"out"}) << delay_ms;
    }
  }
}

TEST(Correct, without_amortization_writes_the_presync_alone) {
  const TempFolder folder;
  const std::string output = (folder / "out").string();
  const ChildOutcome outcome = run_tool({"correct", "--json", example("lulesh-8"), "-o", output,
                                         "--presync", "linear", "--amortize", "off"});
  EXPECT_EQ(outcome.exit_code, 1) << outcome.summary();
  const Json json = json_of(outcome);
  EXPECT_EQ(json["after"]["violations"], json["before"]["violations"]);
  EXPECT_GT(json["after"]["violations"], 0);
  EXPECT_TRUE(json["gamma"].is_null());
  EXPECT_EQ(json["moved_events"], 0);
  EXPECT_TRUE(json["passes"].empty());
  // Linear interpolation is what a reader makes of the original.
  EXPECT_EQ(run_tool({"compare", example("lulesh-8"), output, "--tolerance", "0"}).exit_code, 0);
}

TEST(Correct, without_amortization_shows_what_the_causal_fit_does) {
  const TempFolder folder;
  const std::string output = (folder / "out").string();
  run_tool({"correct", example("allops-4"), "-o", output, "--presync", "causal", "--amortize",
            "off", "--mode", "overlay"});
  const Json json = json_of(run_tool(
      {"compare", "--json", example("allops-4"), output, "--truth", example("allops-4.truth")}));
  EXPECT_LT(json["b_error"]["communication"]["rms_s"], 100e-6);  // linear interpolation: 306 us
}

TEST(Compare, of_a_trace_with_itself_is_zero) {
  const ChildOutcome outcome =
      run_tool({"compare", "--json", example("lulesh-8"), example("lulesh-8"), "--tolerance", "0"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  const Json json = json_of(outcome);
  EXPECT_EQ(json["schema"], "entrain.compare/1");
  EXPECT_EQ(json["locations"].size(), 8u);
  for (const Json& location : json["locations"])
    expect_members(location, {"id", "rms_s", "p99_s", "max_s", "mean_s"});
  EXPECT_EQ(json["all"]["max_s"], 0.0);
  EXPECT_EQ(json["all"]["events"], 131216);
  EXPECT_TRUE(json["a_error"].is_null());
}

TEST(Compare, exceeds_a_tolerance_or_meets_it) {
  const std::vector<std::string> both{"compare", example("lulesh-8"), example("lulesh-8.truth"),
                                      "--tolerance"};
  auto exact = both, generous = both;
  exact.push_back("1e-9");
  generous.push_back("1e9");
  EXPECT_EQ(run_tool(exact).exit_code, 1);
  EXPECT_EQ(run_tool(generous).exit_code, 0);
}

TEST(Compare, tells_the_error_against_the_truth) {
  const Json json =
      json_of(run_tool({"compare", "--json", example("lulesh-8"), example("lulesh-8.truth"),
                        "--truth", example("lulesh-8.truth")}));
  expect_members(json["a_error"], {"all", "communication", "between_clocks", "common"});
  const double between = json["a_error"]["between_clocks"]["communication"]["rms_s"];
  const double common = json["a_error"]["common"]["communication"]["rms_s"];
  EXPECT_GT(between, 0);
  EXPECT_GT(common, 0);
  EXPECT_LT(between, json["a_error"]["communication"]["rms_s"]);
  EXPECT_NEAR(json["a_error"]["communication"]["rms_s"].get<double>(), 8.57e-6, 0.1e-6);
  EXPECT_LT(json["b_error"]["all"]["max_s"], 2e-9);
  const std::string raw =
      run_tool({"compare", "--raw", example("lulesh-8"), example("lulesh-8")}).out;
  EXPECT_THAT(raw, HasSubstr(" (as stored)\nB "));
  EXPECT_THAT(raw, HasSubstr(" ms"));  // offsets of milliseconds, seen only without the records
}

TEST(Compare, writes_errors_over_time_for_plots) {
  const TempFolder folder;
  const std::string csv = (folder / "errors.csv").string();
  const Json json =
      json_of(run_tool({"compare", "--json", example("lulesh-8"), example("lulesh-8.truth"),
                        "--truth", example("lulesh-8.truth"), "--csv", csv, "--points", "50"}));
  std::istringstream lines(contents(csv));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line,
            "location,time_s,difference_s,a_error_s,b_error_s,a_between_s,a_common_s,b_between_s,"
            "b_common_s");
  int count = 0;
  double first = 1, worst_a = 0, worst_b = 0;
  for (; std::getline(lines, line); ++count) {
    double location = 0, time = 0, difference = 0, a = 0, b = 0;
    ASSERT_EQ(
        std::sscanf(line.c_str(), "%lf,%lf,%lf,%lf,%lf", &location, &time, &difference, &a, &b), 5)
        << line;
    first = std::min(first, time);
    worst_a = std::max(worst_a, std::abs(a));
    worst_b = std::max(worst_b, std::abs(b));
  }
  EXPECT_EQ(count, 8 * 50);
  EXPECT_EQ(first, 0);
  // What is picked is part of what was compared, and not its harmless part only.
  const double known = json["a_error"]["all"]["max_s"];
  EXPECT_LE(worst_a, known * 1.000001);
  EXPECT_GT(worst_a, known / 2);
  EXPECT_LT(worst_b, 2e-9);
  expect_refusal(run_tool({"compare", example("lulesh-8"), example("lulesh-8"), "--csv", csv}),
                 "exists");
}

TEST(Compare, writes_differences_without_a_truth) {
  const TempFolder folder;
  const std::string csv = (folder / "all.csv").string();
  ASSERT_EQ(run_tool({"compare", example("lulesh-8"), example("lulesh-8"), "--csv", csv, "--points",
                      "1000000"})
                .exit_code,
            0);
  EXPECT_THAT(contents(csv), testing::StartsWith("location,time_s,difference_s\n"));
  EXPECT_EQ(line_count(contents(csv)), 131216u + 1);
}

TEST(Compare, refuses_different_traces) {
  expect_refusal(run_tool({"compare", example("lulesh-8"), example("amg-8")}), "amg-8");
}

TEST(Distort, makes_a_trace_that_correct_repairs) {
  const TempFolder folder;
  const std::string skewed = (folder / "skewed").string();
  const ChildOutcome outcome = run_tool({"distort", "--json", example("lulesh-8.truth"), "-o",
                                         skewed, "--seed", "7", "--wander-ppm", "2000"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  const Json json = json_of(outcome);
  EXPECT_EQ(json["schema"], "entrain.distort/1");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["clocks"], 8);
  EXPECT_EQ(run_tool({"check", skewed}).exit_code, 1);
  const std::string corrected = (folder / "corrected").string();
  EXPECT_EQ(run_tool({"correct", skewed, "-o", corrected}).exit_code, 0);
}

TEST(Distort, is_determined_by_its_seed) {
  const TempFolder folder;
  for (const char* name : {"a", "b"}) {
    const ChildOutcome outcome = run_tool(
        {"distort", example("allops-4.truth"), "-o", (folder / name).string(), "--seed", "5"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary();
  }
  EXPECT_EQ(digest_tree(folder / "a"), digest_tree(folder / "b"));
}

TEST(Drop, loses_the_records_named) {
  const TempFolder folder;
  const std::string lossy = (folder / "lossy").string();
  const ChildOutcome outcome =
      run_tool({"drop", "--json", example("lulesh-8"), "-o", lossy, "--seed", "7", "--call",
                "irecv", "--call", "Bcast", "--windows", "10%:0.5", "--mark-windows"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  const Json json = json_of(outcome);
  EXPECT_EQ(json["schema"], "entrain.drop/1");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["marks"], 8);
  EXPECT_EQ(json["kinds"]["MpiIrecv"]["lost"], json["kinds"]["MpiIrecv"]["records"]);
  EXPECT_GT(json["kinds"]["MpiIsend"]["lost"], 0);
  EXPECT_LT(json["kinds"]["MpiIsend"]["lost"], json["kinds"]["MpiIsend"]["records"]);
  const Json info = json_of(run_tool({"info", "--json", lossy}));
  EXPECT_FALSE(info["collectives"].contains("Bcast"));
  EXPECT_FALSE(info["communication"].contains("MpiIrecv"));
  EXPECT_TRUE(info["collectives"].contains("Allreduce"));
}

}  // namespace
}  // namespace entrain::test
