// SPDX-License-Identifier: BSD-3-Clause
// Clocks measured beside a tracer that wraps MPI itself.
#include <gmock/gmock.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "record/recorded.hpp"
#include "record/samples.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

class Beside : public EveryMpi {
 protected:
  [[nodiscard]] fs::path clocks() const { return scratch_ / "clocks"; }
  [[nodiscard]] fs::path own() const { return scratch_ / "own"; }

  /// Runs the tracer under the recorder, which writes to clocks(); its own archive is own().
  void run(int processes, const std::vector<std::string>& options,
           std::map<std::string, std::string> variables = {}) {
    const WithVariables with(variables);
    const ChildOutcome outcome =
        record(mpi_, processes, clocks(), {program("traced"), own().string(), "100"}, options);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  }
  void run_on_virtual_nodes(const std::vector<std::string>& options) {
    run(4, options,
        {{"ENTRAIN_VIRTUAL_NODES", "4"},
         {"TRACED_CLOCKS", clocks().string() + ".truth/virtual_clocks.txt"}});
  }

  /// Rms error of communication after a correction by the sessions alone, seconds.
  double error_of(const fs::path& archive, const std::vector<std::string>& options) {
    const fs::path to = scratch_ / "corrected";
    const std::vector<std::string> alone{"--presync", "linear", "--amortize", "off", "--force"};
    const ChildOutcome outcome = run_tool(
        std::vector<std::string>{"correct", archive.string(), "-o", to.string()} + alone + options);
    EXPECT_THAT(outcome.exit_code, testing::AnyOf(0, 1)) << outcome.err;
    const ChildOutcome compared = run_tool({"compare", archive.string(), to.string(), "--truth",
                                            archive.string() + ".truth", "--json"});
    return json_of(compared)["b_error"]["communication"]["rms_s"];
  }

  void expect_refused(const fs::path& archive, const fs::path& folder, const std::string& why) {
    const ChildOutcome outcome =
        run_tool({"check", archive.string(), "--clock-samples", folder.string()});
    EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr(why));
  }
};

TEST_P(Beside, an_archive_of_another_tracer_becomes_as_exact_as_our_own) {
  // One run, so that both have the same sessions.
  run_on_virtual_nodes({});
  if (HasFatalFailure()) return;
  const double ours = error_of(clocks(), {});
  const double others = error_of(own(), {"--clock-samples", clocks().string()});
  EXPECT_GT(ours, 0);
  EXPECT_LE(others, 1.2 * ours);
}

TEST_P(Beside, clocks_alone_are_measured) {
  run_on_virtual_nodes({"--clocks-only", "--sync-max-messages", "20"});
  if (HasFatalFailure()) return;
  EXPECT_FALSE(fs::exists(clocks() / "traces.otf2"));
  EXPECT_FALSE(fs::exists(clocks() / "unfinished"));
  EXPECT_FALSE(fs::exists(clocks().string() + ".truth/unfinished"));
  // At begin and end, and where the program asks for it.
  EXPECT_EQ(samples_in(clocks()).size(), 3u * 3u * 20u);
  const std::string folder = clocks().string();
  const Json check =
      json_of(run_tool({"check", own().string(), "--clock-samples", folder, "--json"}));
  EXPECT_THAT(check["clock_quality"].dump(), HasSubstr("\"sessions\":3"));
  EXPECT_THAT(check.dump(), HasSubstr(" of " + folder));
  const ChildOutcome correct = run_tool(
      {"correct", own().string(), "--clock-samples", folder, "-o", scratch_ / "corrected"});
  EXPECT_EQ(correct.exit_code, 0) << correct.out << correct.err;
  // What is corrected already, or has another number of processes, is another trace.
  expect_refused(scratch_ / "corrected", clocks(), "was corrected already");
  expect_refused(std::string(ENTRAIN_EXAMPLES_DIR) + "/traces/lulesh-8", clocks(),
                 "the archive has 8 ranks of MPI, and 4 were measured");
  expect_refused(own(), own(), "clock_processes.csv cannot be read");
  const ChildOutcome again = record(mpi_, 2, clocks(), {program("ring"), "20"}, {"--clocks-only"});
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("holds clock measurements already"));
}

TEST_P(Beside, periodic_sessions_are_held_too) {
  run_on_virtual_nodes({"--clocks-only", "--sync-period", "0.005", "--sync-max-messages", "5",
                        "--sync-budget", "100"});
  if (HasFatalFailure()) return;
  std::set<std::uint64_t> sessions;
  for (const Sample& sample : samples_in(clocks())) sessions.insert(sample.session);
  EXPECT_GT(sessions.size(), 3u);
}

TEST_P(Beside, records_of_the_other_tracer_may_count_too) {
  run_on_virtual_nodes({"--clocks-only"});
  if (HasFatalFailure()) return;
  const ChildOutcome added = run_tool({"check", own().string(), "--clock-samples",
                                       clocks().string(), "--clock-records", "add", "--json"});
  EXPECT_LE(added.exit_code, 1) << added.err;
  // Not the text: where its lines break depends on the path and on what was measured.
  EXPECT_THAT(json_of(added).dump(), HasSubstr("and ClockOffset records"));
  const ChildOutcome alone = run_tool({"check", own().string(), "--clock-records", "add"});
  EXPECT_EQ(alone.exit_code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--clock-records add needs --clock-samples"));
}

TEST_P(Beside, one_clock_of_all_needs_no_measurement) {
  run(3, {"--clocks-only"});
  if (HasFatalFailure()) return;
  EXPECT_TRUE(samples_in(clocks()).empty());
  const ChildOutcome check =
      run_tool({"check", own().string(), "--clock-samples", clocks().string(), "-v"});
  EXPECT_EQ(check.exit_code, 0) << check.out << check.err;
  EXPECT_THAT(check.out, HasSubstr("time stamps as stored"));
}

TEST_P(Beside, what_is_proved_of_clocks_is_written_down) {
  const ChildOutcome outcome = record(mpi_, 3, scratch_ / "trace", {program("ring"), "20"});
  ASSERT_EQ(outcome.exit_code, 3) << outcome.err;
  const std::string anchor = text_of(anchor_of(scratch_ / "trace"));
  EXPECT_THAT(anchor, HasSubstr("ENTRAIN::CLOCKS"));
  EXPECT_THAT(anchor, HasSubstr("0-2"));
  const std::map<std::string, std::string> nodes{{"ENTRAIN_VIRTUAL_NODES", "3"}};
  const WithVariables with(nodes);
  ASSERT_EQ(record(mpi_, 3, scratch_ / "nodes", {program("ring"), "20"}).exit_code, 3);
  EXPECT_THAT(text_of(anchor_of(scratch_ / "nodes")), Not(HasSubstr("ENTRAIN::CLOCKS")));
}

TEST_P(Beside, another_timer_or_run_is_refused) {
  run(2, {"--clocks-only", "--timer", "realtime"});
  if (HasFatalFailure()) return;
  expect_refused(own(), clocks(), "another run, or another timer");
}

TEST_P(Beside, the_counter_of_the_processor_is_measured_in_counts) {
  const std::vector<std::string> cpu = lines_of("/proc/cpuinfo");
  const bool invariant = std::any_of(cpu.begin(), cpu.end(), [](const std::string& line) {
    return line.find("nonstop_tsc") != std::string::npos;
  });
  if (!invariant) GTEST_SKIP() << "no invariant counter";
  run(2, {"--clocks-only", "--timer", "tsc", "--synced-host", "no"}, {{"TRACED_TIMER", "tsc"}});
  if (HasFatalFailure()) return;
  const ChildOutcome check = run_tool(
      {"check", own().string(), "--clock-samples", clocks().string(), "--presync", "linear"});
  EXPECT_THAT(check.exit_code, testing::AnyOf(0, 1)) << check.err;
  expect_refused(own(), scratch_ / "none", "cannot be read");
  const fs::path nanoseconds = scratch_ / "nanoseconds";
  const ChildOutcome outcome =
      record(mpi_, 2, nanoseconds, {program("ring"), "20"}, {"--clocks-only"});
  ASSERT_EQ(outcome.exit_code, 3) << outcome.err;
  expect_refused(own(), nanoseconds, "give --timer of the tracer");
}

TEST_P(Beside, measurements_of_a_program_that_ended_early_are_finished) {
  const std::map<std::string, std::string> nodes{{"ENTRAIN_VIRTUAL_NODES", "2"}};
  const WithVariables with(nodes);
  const ChildOutcome outcome =
      record(mpi_, 2, clocks(), {program("leaving"), "abort"}, {"--clocks-only"});
  EXPECT_THAT(outcome.err, HasSubstr("--repair"));
  const ChildOutcome repaired = repair(clocks());
  EXPECT_EQ(repaired.exit_code, 0) << repaired.err;
  EXPECT_THAT(repaired.out, HasSubstr("clock_processes.csv"));
  EXPECT_FALSE(samples_in(clocks()).empty());
  EXPECT_FALSE(fs::exists(clocks() / "unfinished"));
}

TEST_P(Beside, options_that_contradict_are_refused) {
  const auto refused = [&](const std::vector<std::string>& options) {
    return record(mpi_, 2, clocks(), {program("ring"), "20"}, options).exit_code == 2;
  };
  EXPECT_TRUE(refused({"--clocks-only", "--no-sync"}));
  EXPECT_TRUE(refused({"--clocks-only", "--max-size", "1M"}));
  EXPECT_TRUE(refused({"--timer", "realtime"}));
  EXPECT_FALSE(fs::exists(clocks()));
}

INSTANTIATE_TEST_SUITE_P(Mpi, Beside, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace entrain::test
