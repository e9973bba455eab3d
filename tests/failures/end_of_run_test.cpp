// SPDX-License-Identifier: BSD-3-Clause
// What goes wrong around the work itself: input that changes meanwhile, a report that nobody takes,
// arguments of any length.
#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"
#include "failures/preloaded.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

class EndOfRun : public testing::Test {
 protected:
  EndOfRun() { copy_tree(example("allops-4"), archive_); }

  [[nodiscard]] std::string output() const { return (scratch_ / "out").string(); }

  TempFolder scratch_;
  std::filesystem::path archive_ = scratch_ / "in";
};

TEST_F(EndOfRun, refuses_input_that_changes_meanwhile) {
  ENTRAIN_NEEDS_FAILING_CALLS();
  for (const char* verb : {"correct", "distort", "drop"}) {
    for (const char* file : {"traces/2.evt", "traces/3.def", "traces.def", "traces.otf2"}) {
      SCOPED_TRACE(std::string(verb) + ' ' + file);
      const std::string changed = (archive_ / file).string();
      std::vector<std::string> arguments{verb, archive_.string(), "-o", output()};
      if (verb == std::string("drop")) arguments.insert(arguments.end(), {"--random", "0.1"});
      // Nothing is read after the anchor is written but what was read before, so the byte that is
      // added does no other harm.
      const ChildOutcome outcome =
          run_program(preloaded({"WHEN_CREATED=traces.otf2", "APPEND_TO=" + changed}, arguments),
                      tool_limits());
      expect_refusal(outcome, changed + " has changed while it was read");
      EXPECT_EQ(entries_of(scratch_.path()), std::vector<std::string>{"in"});
      std::filesystem::remove_all(archive_);
      copy_tree(example("allops-4"), archive_);
    }
  }
}

TEST_F(EndOfRun, says_where_the_result_is_when_nobody_takes_the_report) {
  const ChildOutcome outcome =
      run_shell("\"$0\" correct " + archive_.string() + " -o " + output() + " > /dev/full");
  expect_refusal(outcome,
                 "cannot write to standard output: No space left on device; the result is "
                 "complete: " +
                     output());
  EXPECT_LE(run_tool({"check", output()}).exit_code, 1);
  for (const std::string verb : {"export", "edges", "report"}) {
    const std::string file = output() + '.' + verb;
    expect_refusal(
        run_shell("\"$0\" " + verb + ' ' + archive_.string() + " -o " + file + " > /dev/full"),
        "the result is complete: " + file);
    EXPECT_TRUE(std::filesystem::exists(file));
  }
  expect_refusal(run_shell("\"$0\" info " + archive_.string() + " > /dev/full"),
                 "cannot write to standard output: No space left on device\n");
}

TEST_F(EndOfRun, waits_for_a_reader_that_takes_its_time) {
  // The reader makes the pipe non-blocking, as some do, and is slow.
  const std::string script =
      "import os, subprocess, sys, time\n"
      "ends = os.pipe()\n"
      "os.set_blocking(ends[1], False)\n"
      "filled = os.write(ends[1], b'x' * 70000)\n"
      "child = subprocess.Popen(sys.argv[1:], stdout=ends[1])\n"
      "time.sleep(0.5)\n"
      "os.close(ends[1])\n"
      "text = b''\n"
      "while part := os.read(ends[0], 4096): text += part\n"
      "sys.stdout.write(text[filled:].decode())\n"
      "sys.exit(child.wait())\n";
  const ChildOutcome outcome = run_program(
      {"python3", "-c", script, ENTRAIN_BINARY, "info", archive_.string()}, tool_limits());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  EXPECT_EQ(outcome.out, run_tool({"info", archive_.string()}).out);
}

TEST_F(EndOfRun, repeats_no_argument_at_length) {
  const std::string longest(100'000, 'a');
  std::string words, controls;
  for (int i = 0; i < 20'000; ++i) words += "words ";
  for (int i = 0; i < 20'000; ++i) controls += "\x1b[31m";
  for (const std::string& argument : {longest, words, controls}) {
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {argument},
             {"info", argument},
             {"correct", archive_.string(), "-o", output(), "--gamma", argument},
             {"check", archive_.string(), "--mu", argument},
             {"check", archive_.string(), argument},
             {"check", archive_.string(), "--" + argument},
             {"correct", argument, "-o", argument}}) {
      const ChildOutcome outcome = run_tool(arguments);
      expect_refusal(outcome, "...");
      EXPECT_LE(outcome.err.size(), 400u) << outcome.err;
      EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace entrain::test
