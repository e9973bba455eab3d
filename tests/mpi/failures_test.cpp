// SPDX-License-Identifier: BSD-3-Clause
// Processes that fail, that are started in different ways, or that die: one sentence, nothing left.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "mpi/run.hpp"
#include "support/files.hpp"
#include "support/repetitions.hpp"
#include "support/small_trace.hpp"

#ifdef ENTRAIN_MPIEXEC
namespace entrain::test {
namespace {

class Failures : public testing::Test {
 protected:
  void SetUp() override {
    copy_tree(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces/lulesh-8", scratch_ / "in");
  }
  /// One sentence of the tool, exit code 2, nothing left behind.
  void expect_refused(const ChildOutcome& outcome, const std::string& sentence) {
    EXPECT_NE(outcome.exit_code, 0) << outcome.summary();
    EXPECT_FALSE(outcome.timed_out) << outcome.summary();
    const std::vector<std::string> lines = own_lines(outcome.err);
    ASSERT_EQ(lines.size(), 1u) << outcome.err;
    EXPECT_NE(lines[0].find(sentence), std::string::npos) << lines[0];
    EXPECT_EQ(entries_of(scratch_.path()), (std::vector<std::string>{"in"}));
  }
  ChildOutcome correct(unsigned count) {
    return run_processes(
        count, {"correct", (scratch_ / "in").string(), "-o", (scratch_ / "out").string()});
  }

  TempFolder scratch_;
};

TEST_F(Failures, a_missing_archive) {
  expect_refused(run_processes(3, {"correct", (scratch_ / "none").string(), "-o",
                                   (scratch_ / "out").string()}),
                 "none");
}

TEST_F(Failures, damage_that_one_process_sees) {
  for (const char* victim : {"0.evt", "5.evt", "7.evt"}) {
    const fs::path file = scratch_ / "in/traces" / victim;
    const Bytes good = read_bytes(file);
    Bytes bad = good;
    std::fill_n(bad.begin() + 3000, 400, std::uint8_t{3});  // no record begins like this
    write_bytes(file, bad);
    expect_refused(correct(4), victim);
    write_bytes(file, good);
  }
}

TEST_F(Failures, a_file_that_one_process_may_not_read) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  fs::permissions(scratch_ / "in/traces/6.evt", fs::perms::none);
  expect_refused(correct(4), "6.evt");
}

TEST_F(Failures, an_existing_output_is_not_touched) {
  write_bytes(scratch_ / "out", {1, 2, 3});
  const ChildOutcome outcome = correct(3);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(own_lines(outcome.err).size(), 1u) << outcome.err;
  EXPECT_EQ(read_bytes(scratch_ / "out"), (Bytes{1, 2, 3}));
}

TEST_F(Failures, wrong_usage_is_told_once) {
  const ChildOutcome outcome = run_processes(3, {"correct", "--frobnicate"});
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_EQ(own_lines(outcome.err).size(), 1u) << outcome.err;
}

TEST_F(Failures, unmatched_and_truncated_traces_do_not_block) {
  fs::remove(scratch_ / "in/traces/2.evt");
  fs::resize_file(scratch_ / "in/traces/4.evt", fs::file_size(scratch_ / "in/traces/4.evt") / 3);
  const Arguments arguments{"correct", (scratch_ / "in").string(), "-o"};
  Arguments alone = arguments, shared = arguments;
  alone.push_back((scratch_ / "alone").string());
  shared.push_back((scratch_ / "shared").string());
  const ChildOutcome expected = run_alone(alone);
  const ChildOutcome outcome = run_processes(4, shared);
  EXPECT_EQ(outcome.exit_code, expected.exit_code) << outcome.summary();
  EXPECT_EQ(digest_tree(scratch_ / "shared"), digest_tree(scratch_ / "alone"));
}

/// Processes of one run that are started with a command each.
ChildOutcome run_started(const std::vector<Arguments>& commands) {
  prepare_mpi();
  Arguments command{ENTRAIN_MPIEXEC};
  for (const Arguments& one : commands) {
    if (command.size() > 1) command.push_back(":");
    command.insert(command.end(), {"-n", "1"});
    command.insert(command.end(), one.begin(), one.end());
  }
  return run_program(command, {.timeout_s = k_timeout_s});
}

class Starts : public Failures {
 protected:
  /// Processes with these arguments end with code 2 and one sentence with these words.
  void expect_told(const std::vector<Arguments>& arguments, const std::string& words) {
    std::vector<Arguments> commands = arguments;
    for (Arguments& command : commands) command.insert(command.begin(), ENTRAIN_BINARY);
    expect_refused_start(commands, words);
  }
  void expect_refused_start(const std::vector<Arguments>& commands, const std::string& words) {
    const ChildOutcome outcome = run_started(commands);
    expect_refused(outcome, words);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.summary();
    EXPECT_EQ(outcome.out, "");
  }

  const std::string in_ = scratch_ / "in", out_ = scratch_ / "out";
};

TEST_F(Starts, other_options) {
  const Arguments correct{"correct", in_, "-o", out_};
  Arguments other = correct;
  other.insert(other.end(), {"--mu", "1e-3"});
  expect_told({correct, other}, "process 1 has '--mu 1e-3' where process 0 has nothing");
  expect_told({other, correct}, "process 1 has nothing where process 0 has '--mu 1e-3'");
  Arguments third = correct;
  third.insert(third.end(), {"--mu", "2e-3"});
  expect_told({other, other, third}, "process 2 has '--mu 2e-3' where process 0 has '--mu 1e-3'");
}

TEST_F(Starts, other_verbs) {
  expect_told({{"correct", in_, "-o", out_}, {"check", in_}}, "process 1 has 'check");
  expect_told({{"check", in_}, {"info", in_}}, "process 1 has 'info' where process 0 has 'check'");
  expect_told({{"info", in_}, {"info", in_, "--json"}}, "process 1 has '--json'");  // done by one
  expect_told({{"info", in_}, {"check", in_}}, "process 1 has 'check' where process 0 has 'info'");
}

TEST_F(Starts, wrong_usage_of_one_process) {
  expect_told({{"check", in_}, {"check", in_, "--frobnicate"}}, "process 1 has '--frobnicate'");
  expect_told({{"check", "--frobnicate"}, {"check", in_}}, "process 1 has '" + in_);
  expect_told({{"check", in_}, {"chekc", in_}},
              "process 1 has 'chekc' where process 0 has 'check'");
  expect_told({{"check", in_}, {"check"}}, "process 1 has nothing where process 0 has '" + in_);
  expect_told({{"check", in_}, {}}, "process 1 has nothing");
  expect_told({{"check", in_}, {"check", "--help"}}, "process 1 has '--help'");
  expect_told({{"--help"}, {"check", in_}}, "where process 0 has '--help'");
}

TEST_F(Starts, other_inputs) {
  expect_told({{"check", in_}, {"check", in_, in_}}, "process 1 has '" + in_);
  expect_told({{"check", in_}, {"check", in_ + "/none"}}, "/none' where process 0 has '");
}

TEST_F(Starts, other_settings_and_folders) {
  expect_refused_start({{ENTRAIN_BINARY, "check", in_},
                        {"env", "-u", "ENTRAIN_PROCESSES", ENTRAIN_BINARY, "check", in_}},
                       "process 1 has nothing where process 0 has 'ENTRAIN_PROCESSES=all'");
  const std::string here = scratch_.path();
  expect_refused_start({{"env", "-C", here, ENTRAIN_BINARY, "check", "in"},
                        {"env", "-C", in_, ENTRAIN_BINARY, "check", "in"}},
                       "process 1 was started in ");
  const ChildOutcome outcome = run_started({{"env", "-C", here, ENTRAIN_BINARY, "check", in_},
                                            {"env", "-C", in_, ENTRAIN_BINARY, "check", in_}});
  EXPECT_EQ(own_lines(outcome.err).size(), 0u) << outcome.summary();  // absolute paths are the same
}

/// One path, under which the processes see different files.
TEST_F(Starts, one_process_misses_the_input_or_sees_another) {
  const std::string seen = "/proc/self/cwd/seen";
  fs::create_directory(scratch_ / "in/json");
  const Arguments places{scratch_ / "in", scratch_ / "in/traces", scratch_ / "in/json"};
  fs::create_directory_symlink("..", scratch_ / "in/traces/seen");  // the archive
  copy_tree(fs::path(ENTRAIN_EXAMPLES_DIR) / "services", scratch_ / "in/json/seen");
  for (const Arguments& verb : {Arguments{"check", seen}, Arguments{"correct", seen, "-o", out_}}) {
    for (std::size_t first = 0; first < places.size(); ++first) {
      for (std::size_t second = 0; second < places.size(); ++second) {
        if (first == second) continue;
        // In `make test` each verb sees each pair of places in one order.
        if (!every_repetition() && (first < second) != (verb[0] == "check")) continue;
        std::vector<Arguments> commands{{"env", "-C", places[first], ENTRAIN_BINARY},
                                        {"env", "-C", places[second], ENTRAIN_BINARY}};
        for (Arguments& command : commands) {
          command.insert(command.end(), verb.begin(), verb.end());
        }
        expect_refused_start(commands, "entrain: ");
      }
    }
  }
}

/// A process that dies takes the others with it; what is there under the final name is complete.
TEST_F(Failures, a_process_that_is_killed) {
  const fs::path alone = scratch_ / "alone", output = scratch_ / "out";
  ASSERT_TRUE(corrects(run_alone({"correct", (scratch_ / "in").string(), "-o", alone.string()})));
  for (const char* seconds : repetitions({"0.15"}, {"0", "0.4"})) {
    for (const char* victim : {"0", "1", "2"}) {
      const std::string script = fmt::format(
          "test \"${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}\" != {} || (sleep {}; kill -9 $$) & "
          "exec \"$0\" \"$@\"",
          victim, seconds);
      prepare_mpi();
      const ChildOutcome outcome =
          run_program({ENTRAIN_MPIEXEC, "-n", "3", "sh", "-c", script, ENTRAIN_BINARY, "correct",
                       scratch_ / "in", "-o", output},
                      {.timeout_s = k_timeout_s});
      EXPECT_FALSE(outcome.timed_out) << outcome.summary();
      if (fs::exists(output)) {
        EXPECT_EQ(digest_tree(output), digest_tree(alone)) << outcome.summary();
        fs::remove_all(output);
      } else {
        EXPECT_NE(outcome.exit_code, 0) << outcome.summary();
      }
    }
  }
  ASSERT_TRUE(corrects(correct(3)));
  EXPECT_EQ(digest_tree(output), digest_tree(alone));
  std::vector<std::string> left = entries_of(scratch_.path());
  // What a killed run left stays as long as the system knows its process.
  std::erase_if(left, [](const std::string& name) { return name.starts_with(".out.partial-"); });
  EXPECT_EQ(left, (std::vector<std::string>{"alone", "in", "out"}));
}

}  // namespace
}  // namespace entrain::test
#endif
