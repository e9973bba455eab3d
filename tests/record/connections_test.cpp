// SPDX-License-Identifier: BSD-3-Clause
// Programs whose processes meet by ports and sockets, or start others.
#include <gmock/gmock.h>

#include "record/told_programs.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Connections : public ToldPrograms {
 protected:
  /// Not every MPI can everywhere: "", or why it cannot, out of its own mouth.
  [[nodiscard]] std::string refusal(int processes, const std::vector<std::string>& command) const {
    const ChildOutcome plain = run_program(launch(mpi_, processes) + command, tool_limits());
    EXPECT_THAT(plain.err, Not(HasSubstr("not true"))) << "the program itself fails";
    return plain.exit_code == 0 ? "" : GetParam() + " cannot do that here: " + plain.err;
  }

  void expect_told(const std::string& name) {
    const std::string why = refusal(4, {program(name), scratch_.path().string()});
    if (!why.empty()) GTEST_SKIP() << why;
    expect_recorded_as_told(name);
    if (HasFatalFailure()) return;
    for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
  }

  /// Spawns by `call`; `how` is the program's word for it.
  void expect_left_out(const std::string& call, const std::string& how) {
    const std::vector<std::string> command{program("spawn"), scratch_.path().string(), how};
    const std::string why = refusal(3, command);
    if (!why.empty()) GTEST_SKIP() << why;
    const ChildOutcome outcome = record(mpi_, 3, scratch_ / "trace", command);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
    EXPECT_EQ(outcome.out, "spawn done\n");
    EXPECT_THAT(outcome.err, HasSubstr("processes that the program started with MPI_Comm_spawn are "
                                       "not recorded"));
    expect_sound(scratch_ / "trace");
    EXPECT_EQ(check_["locations"], 3);
    for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
    for (const char* rank : {"0", "1", "2"}) {
      EXPECT_EQ(joined(records_of(printed_, rank)),
                joined(lines_of(scratch_ / (std::string("expected.") + rank))));
      EXPECT_EQ(calls_of(printed_, rank)[call], 1);
    }
  }
};

TEST_P(Connections, between_groups) { expect_told("accept"); }

TEST_P(Connections, by_sockets) { expect_told("join"); }

TEST_P(Connections, spawned_processes_are_left_out) { expect_left_out("MPI_Comm_spawn", "one"); }

TEST_P(Connections, processes_spawned_by_several_commands_are_left_out) {
  expect_left_out("MPI_Comm_spawn_multiple", "several");
}

TEST_P(Connections, of_single_processes) {
  const std::string why = refusal(3, {program("connect")});
  if (!why.empty()) GTEST_SKIP() << why;
  const ChildOutcome outcome = record(mpi_, 3, scratch_ / "trace", {program("connect")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  EXPECT_EQ(outcome.out, "connected\n");
  expect_sound(scratch_ / "trace");
  for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
  for (const auto& [rank, names] : std::map<std::string, std::vector<std::string>>{
           {"0", {"first", "second", "third"}}, {"1", {"first"}}, {"2", {"second", "third"}}}) {
    std::vector<std::string> through;  // messages and ends of the connections, in order
    for (const std::string& text : records_of(printed_, rank)) {
      if (text.find("MPI_COMM_WORLD") == std::string::npos && text != "BEGIN") {
        through.push_back(text);
      }
    }
    std::vector<std::string> expected;
    for (const std::string& name : names) {
      const std::string tag = name == "first" ? "0" : name == "second" ? "1" : "2";
      expected.push_back("CREATE " + name);
      expected.push_back((rank == "0" ? "SEND 0 " : "RECV 0 ") + name + " " + tag + " 4");
      expected.push_back("DESTROY " + name);
    }
    EXPECT_EQ(through, expected) << rank;
  }
}

INSTANTIATE_TEST_SUITE_P(Mpi, Connections, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace entrain::test
