// SPDX-License-Identifier: BSD-3-Clause
// The system gives fewer threads than wanted: the run goes on with those that it has.
#include <gtest/gtest.h>

#include "base/temp_folder_testing.hpp"
#include "failures/preloaded.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

constexpr const char* k_note =
    "entrain: the system gave fewer threads than wanted; the run took longer, the result is the "
    "same\n";

TEST(Threads, that_are_refused_change_nothing_but_the_time) {
  ENTRAIN_NEEDS_FAILING_CALLS();
  const TempFolder scratch;
  const auto correct_to = [&](const std::string& name) {
    return std::vector<std::string>{
        "correct", example("amg-8"), "-o", (scratch / name).string(), "--threads", "4"};
  };
  const ChildOutcome expected = run_tool(correct_to("all"));
  ASSERT_LE(expected.exit_code, 1) << expected.summary();
  EXPECT_EQ(expected.err, "");
  for (const int from : {1, 2, 3, 9}) {
    const std::string name = "from-" + std::to_string(from);
    const ChildOutcome outcome = run_program(
        preloaded({"FAIL_THREADS_FROM=" + std::to_string(from)}, correct_to(name)), tool_limits());
    EXPECT_EQ(outcome.exit_code, expected.exit_code) << outcome.summary();
    EXPECT_EQ(outcome.err, k_note) << from;
    EXPECT_EQ(digest_tree(scratch / name), digest_tree(scratch / "all")) << from;
  }
}

TEST(Threads, that_nobody_wanted_are_not_missed) {
  ENTRAIN_NEEDS_FAILING_CALLS();
  const ChildOutcome outcome = run_program(
      preloaded({"FAIL_THREADS_FROM=1"}, {"info", example("allops-4"), "--threads", "1"}),
      tool_limits());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  EXPECT_EQ(outcome.err, "");
}

}  // namespace
}  // namespace entrain::test
