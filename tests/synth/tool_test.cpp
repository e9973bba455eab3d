// SPDX-License-Identifier: BSD-3-Clause
//
// The verb `synth`: what it says, what it refuses, what it needs, and what remains when it fails.
#include <csignal>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/tool.hpp"
#include "support/files.hpp"
#include "support/repetitions.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

/// A synth of `events` events into `output`.
std::vector<std::string> synth_of(const fs::path& output, const std::string& events,
                                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"synth", "-o", output.string(), "--events", events};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(SynthTool, tells_what_it_wrote) {
  const TempFolder scratch;
  const ChildOutcome outcome = run_tool(
      synth_of(scratch / "a", "10000", {"--pattern", "mixed", "--locations", "4", "--json"}));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary();
  const Json json = json_of(outcome);
  EXPECT_EQ(json["schema"], "entrain.synth/1");
  EXPECT_EQ(json["archive"], (scratch / "a/traces.otf2").string());
  EXPECT_EQ(json["pattern"], "mixed");
  EXPECT_EQ(json["locations"], 4);
  EXPECT_EQ(json["events"], 10000);
  EXPECT_EQ(json["seed"], 1);
  expect_members(json, {"iterations", "communication_events", "messages", "collectives",
                        "event_bytes", "span_s", "seconds"});
  const ChildOutcome text = run_tool(synth_of(scratch / "b", "10000"));
  EXPECT_EQ(text.exit_code, 0) << text.summary();
  EXPECT_NE(text.out.find("10,000 events"), std::string::npos) << text.out;
}

TEST(SynthTool, refuses_a_folder_that_exists) {
  const TempFolder scratch;
  ASSERT_EQ(run_tool(synth_of(scratch / "a", "5000")).exit_code, 0);
  const auto before = digest_tree(scratch.path());
  expect_refusal(run_tool(synth_of(scratch / "a", "6000")), "exists already");
  EXPECT_EQ(digest_tree(scratch.path()), before);
  EXPECT_EQ(run_tool(synth_of(scratch / "a", "6000", {"--force"})).exit_code, 0);
  EXPECT_NE(digest_tree(scratch.path()), before);
  EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>{"a"});
}

TEST(SynthTool, refuses_options_that_make_no_sense) {
  const TempFolder scratch;
  const auto expect_refused = [&](const std::vector<std::string>& more, const std::string& part) {
    expect_refusal(run_tool(synth_of(scratch / "a", "5000", more)), part);
    EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>());
  };
  expect_refused({"--pattern", "star"},
                 "ring, stencil2d, allreduce, master-worker, mixed or pipeline");
  expect_refused({"--locations", "0"}, "1 to 1000000");
  expect_refused({"--locations", "1000001"}, "1 to 1000000");
  expect_refused({"--locations", "1000"}, "ask for");
  expect_refused({"--events", "7"}, "ask for");
  expect_refused({"--events", "1e9"}, "whole number");
  expect_refused({"--communication-share", "0"}, "fraction from 0.0001 to 1");
  expect_refused({"--imbalance", "-1"}, "fraction from 0 to 1");
  expect_refused({"--latency-s", "0"}, "seconds from 1e-09 to 1");
  expect_refused({"--tail-s", "nan"}, "seconds from 0 to 1");
  expect_refused({"--iteration-s", "1e4"}, "seconds from 1e-07 to 1000");
  expect_refused({"--events", "100000000000000", "--iteration-s", "1000"}, "too long");
  expect_refused({"--seed", "-1"}, "whole number");
  expect_refused({"x"}, "'x' is one argument too many");
}

TEST(SynthTool, leaves_nothing_when_the_disk_is_full) {
  const TempFolder scratch;
  const auto arguments = synth_of(scratch / "a", "100000", {"--locations", "3"});
  for (const rlim_t most : {rlim_t{1000}, rlim_t{100'000}}) {
    std::vector<std::string> command{ENTRAIN_BINARY};
    command.insert(command.end(), arguments.begin(), arguments.end());
    const ChildOutcome outcome = run_program(command, {.timeout_s = 60, .file_size = most});
    expect_refusal(outcome, ".evt");
    EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>());
  }
}

TEST(SynthTool, leaves_nothing_when_it_is_interrupted) {
  const TempFolder scratch;
  std::vector<std::string> command{ENTRAIN_BINARY};
  const auto arguments = synth_of(scratch / "a", "100000000000");
  command.insert(command.end(), arguments.begin(), arguments.end());
  const pid_t child = start_program(command);
  ::usleep(300'000);
  ::kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
  EXPECT_EQ(entries_of(scratch.path()), std::vector<std::string>());
}

/// Largest resident memory of a run, KiB.
long peak_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> command{ENTRAIN_BINARY};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const pid_t child = start_program(command);
  int status = 0;
  rusage usage{};
  EXPECT_EQ(::wait4(child, &status, 0, &usage), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return usage.ru_maxrss;
}

TEST(SynthTool, needs_no_more_memory_for_more_events) {
  const TempFolder scratch;
  const std::vector<std::string> more{"--locations", "16", "--threads", "2", "--pattern", "mixed"};
  const long small = peak_of(synth_of(scratch / "a", "100000", more));
  const long large = peak_of(synth_of(scratch / "b", "10000000", more));
  EXPECT_LT(large - small, 4 * 1024) << small << " KiB, " << large << " KiB";
}

TEST(SynthTool, needs_no_more_memory_for_longer_files_of_json) {
  const TempFolder scratch;
  for (const std::string format : {"chrome", "otlp"}) {
    const std::vector<std::string> more{"--format", format, "--threads", "2"};
    const long small = peak_of(synth_of(scratch / (format + "-small"), "100000", more));
    const long large = peak_of(synth_of(scratch / (format + "-large"), "1000000", more));
    EXPECT_LT(large - small, 4 * 1024) << small << " KiB, " << large << " KiB";
  }
}

TEST(SynthTool, writes_many_locations_with_few_open_files) {
  const TempFolder scratch;
  const unsigned locations = every_repetition() ? 20'000 : 2'000, events = 50 * locations;
  std::vector<std::string> command{ENTRAIN_BINARY};
  const auto arguments =
      synth_of(scratch / "a", std::to_string(events),
               {"--locations", std::to_string(locations), "--pattern", "stencil2d", "--json"});
  command.insert(command.end(), arguments.begin(), arguments.end());
  const ChildLimits limits{.timeout_s = 100, .open_files = every_repetition() ? 1024u : 128u};
  const ChildOutcome written = run_program(command, limits);
  ASSERT_EQ(written.exit_code, 0) << written.summary();
  EXPECT_EQ(json_of(written)["events"], events);
  const ChildOutcome checked =
      run_program({ENTRAIN_BINARY, "check", "--json", (scratch / "a").string()}, limits);
  EXPECT_EQ(checked.exit_code, 0) << checked.summary();
  EXPECT_EQ(json_of(checked)["events"], events);
}

}  // namespace
}  // namespace entrain::test
