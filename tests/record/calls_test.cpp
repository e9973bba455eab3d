// SPDX-License-Identifier: BSD-3-Clause
// Programs that call everything are recorded exactly as they say themselves.
#include <set>

#include <gmock/gmock.h>

#include "record/told_programs.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::StartsWith;

class Calls : public ToldPrograms {};

TEST_P(Calls, every_message) {
  expect_recorded_as_told("messages");
  if (IsSkipped() || HasFatalFailure()) return;
  // All messages are matched.
  for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
}

TEST_P(Calls, that_fail) {
  // Of a message that is too long, MPICH tells what there was room for, Open MPI the whole length.
  receives_are_cut_ = GetParam() == "mpich";
  expect_recorded_as_told("errors");
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(calls_of(printed_, "0")["error"], 19);  // marked by a handler of the program
  EXPECT_EQ(check_["violations"], 0);
  if (receives_are_cut_) return;
  for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
}

TEST_P(Calls, every_collective_and_communicator) { expect_recorded_as_told("collectives"); }

TEST_P(Calls, every_collective_among_neighbours) {
  expect_recorded_as_told("neighbours");
  if (IsSkipped() || HasFatalFailure()) return;
  // Ten calls each: 2 neighbours of each process on the torus, 1 on the ring.
  EXPECT_EQ(check_["edges"]["n_to_n"]["count"], 10 * 4 * 2 + 10 * 4 * 1);
  for (const auto& [what, count] : check_["skipped"].items()) EXPECT_EQ(count, 0) << what;
}

TEST_P(Calls, partners_of_collective_calls) {
  expect_recorded_as_told("partners");
  if (IsSkipped() || HasFatalFailure()) return;
  // Three calls in pairs, one to rank 2, none, one in place, one between groups; along the line
  // both ways and upward; the star both ways; the funnel.
  const int expected = 3 * 4 + 3 + 0 + 4 + 4 + 6 + 3 + 6 + 3;
  const bool persistent = calls_of(printed_, "0").contains("MPI_Alltoallv_init");
  EXPECT_EQ(check_["edges"]["n_to_n"]["count"], expected + (persistent ? 2 * 4 + 8 : 0));
  for (const auto& [what, count] : check_["skipped"].items()) EXPECT_EQ(count, 0) << what;
  for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
}

TEST_P(Calls, partners_are_there_after_a_repair) {
  const fs::path trace = scratch_ / "trace";
  const ChildOutcome outcome =
      record(mpi_, 4, trace, {program("partners"), scratch_.path().string(), "crash"});
  EXPECT_NE(outcome.exit_code, 0);
  const ChildOutcome repaired = repair(trace);
  ASSERT_EQ(repaired.exit_code, 0) << repaired.err;
  expect_sound(trace);
  const auto expected = all_lines("expected");
  for (std::size_t rank = 0; rank < 4; ++rank) {
    // A barrier follows, in which a process may be killed.
    EXPECT_THAT(joined(records_of(printed_, std::to_string(rank))),
                StartsWith(joined(expected[rank])));
  }
  EXPECT_THAT(joined(expected[0]), HasSubstr("PARTNERS to 1 from 1"));
}

TEST_P(Calls, every_file_access) { expect_recorded_as_told("files"); }

TEST_P(Calls, calls_of_mpi4) {
  if (GetParam() == "openmpi") {
    const ChildOutcome plain = run_program({program("mpi4")}, tool_limits());
    if (plain.out == "no MPI 4\n") GTEST_SKIP() << "this MPI has none";
  }
  expect_recorded_as_told("mpi4");
}

TEST_P(Calls, programs_of_sessions_alone_are_not_recorded) {
  const ChildOutcome plain = run_program(
      launch(mpi_, 3) + std::vector<std::string>{program("sessions"), "alone"}, tool_limits());
  if (plain.out.starts_with("no MPI 4\n")) GTEST_SKIP() << "this MPI has no sessions";
  ASSERT_EQ(plain.exit_code, 0) << plain.summary() << plain.err;
  const ChildOutcome outcome = record(mpi_, 3, scratch_ / "trace", {program("sessions"), "alone"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  EXPECT_EQ(outcome.out, plain.out);
  const std::string sentence =
      "entrain record: programs that begin with MPI_Session_init and never call MPI_Init are not "
      "recorded\n";
  const std::size_t at = outcome.err.find(sentence);
  ASSERT_NE(at, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find(sentence, at + 1), std::string::npos) << "told more than once";
  EXPECT_FALSE(std::filesystem::exists(scratch_ / "trace"));
}

TEST_P(Calls, sessions_beside_init) {
  const ChildOutcome outcome = record(mpi_, 3, scratch_ / "trace", {program("sessions"), "beside"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  if (outcome.out.starts_with("no MPI 4\n")) GTEST_SKIP() << "this MPI has no sessions";
  EXPECT_EQ(outcome.out, "sums 6 6\n");
  EXPECT_EQ(outcome.err, "");
  expect_sound(scratch_ / "trace");
  for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
  EXPECT_EQ(calls_of(printed_, "1")["MPI_Allreduce"], 20);
  EXPECT_EQ(check_["edges"]["n_to_n"]["count"], 10 * 3 * 2);
}

TEST_P(Calls, switched_off_and_on) {
  expect_recorded_as_told("pcontrol");
  if (IsSkipped() || HasFatalFailure()) return;
  for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
  for (const char* rank : {"0", "3"}) {
    auto calls = calls_of(printed_, rank);
    EXPECT_EQ(calls["outer"], 2);  // left for the pause, and entered again
    EXPECT_EQ(calls["inner"], 1);
    EXPECT_EQ(calls["unseen"], 0);
    EXPECT_EQ(calls["MPI_Send"], 0);
    EXPECT_EQ(calls["MPI_Barrier"], 2);
    EXPECT_EQ(calls["MPI_Startall"], 1);
    const std::string& events = printed_.events[rank];
    EXPECT_THAT(events, HasSubstr("Mode: OFF"));
    EXPECT_THAT(events, HasSubstr("Mode: ON"));
  }
}

TEST_P(Calls, every_one_sided_operation) {
  expect_recorded_as_told("one_sided");
  if (IsSkipped() || HasFatalFailure()) return;
  for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
  // Two windows with four rounds of post, start, complete and wait: two relations each.
  const Json edges = check_["edges"]["rma"];
  EXPECT_GT(edges["count"], 2 * 4 * 4 * 2);
}

/// Names of the calls of MPI 3.1 that communicate, in the table of all calls.
std::set<std::string> communicating_calls() {
  static const std::regex k_line("^(\\S+) .*(MPI_\\w+)\\(.*");
  static const std::regex k_quiet_kind("abort|init_thread|foreign_comm|set_errhandler");
  static const std::regex k_of_plain_kind("MPI_(File_|Win_|Neighbor_|Probe|Iprobe|Request_get).*");
  static const std::regex k_attributes(
      ".*(errhandler|keyval|_attr|(Win|File)_[sg]et_info|get_name).*|MPI_Grequest_start");
  std::set<std::string> names;
  std::smatch match;
  for (const std::string& line : lines_of(ENTRAIN_RECORD_CALLS)) {
    if (line.starts_with("#") || !std::regex_match(line, match, k_line)) continue;
    const std::string kind = match[1], name = match[2];
    const bool plain = kind == "plain" && !std::regex_match(name, k_of_plain_kind);
    if (plain || std::regex_match(kind, k_quiet_kind)) continue;
    if (!std::regex_match(name, k_attributes)) names.insert(name);
  }
  return names;
}

TEST_P(Calls, no_communicating_call_is_left_out) {
  if (GetParam() != "openmpi") GTEST_SKIP() << "the programs are the same";
  const std::set<std::string> wanted = communicating_calls();
  ASSERT_GT(wanted.size(), 180u);
  std::set<std::string> called;
  for (const char* name : {"messages", "collectives", "neighbours", "files", "one_sided"}) {
    const std::filesystem::path folder = scratch_ / name;
    const ChildOutcome outcome = record(mpi_, 4, folder, {program(name), scratch_.path().string()});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
    const PrintedArchive printed = print_archive(anchor_of(folder), true);
    for (const auto& [call, count] : calls_of(printed, "0")) called.insert(call);
  }
  for (const std::string& call : wanted) EXPECT_TRUE(called.contains(call)) << call;
}

TEST_P(Calls, in_every_language) {
  std::map<std::string, int> calls;
  for (const char* name : {"bindings_c", "bindings_mpif_h", "bindings_mpi", "bindings_mpi_f08"}) {
    if (mpi_.fortran.empty() && std::string(name) != "bindings_c") continue;
    const std::filesystem::path folder = scratch_ / name;
    const ChildOutcome outcome = record(mpi_, 3, folder, {program(name)});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("sum 3")) << name;
    expect_sound(folder);
    for (const char* rank : {"0", "1", "2"}) {
      // Every call exactly once, and nothing else.
      const std::map<std::string, int> expected{
          {"MPI_Init", 1},      {"MPI_Comm_rank", 1},   {"MPI_Comm_size", 1},
          {"MPI_Sendrecv", 1},  {"MPI_Irecv", 1},       {"MPI_Isend", 1},
          {"MPI_Waitall", 1},   {"MPI_Type_vector", 1}, {"MPI_Type_commit", 1},
          {"MPI_Send", 1},      {"MPI_Recv", 1},        {"MPI_Type_free", 1},
          {"MPI_Allreduce", 1}, {"MPI_Finalize", 1},    {"clock session", 3},
          {"solve", 1}};
      EXPECT_EQ(calls_of(printed_, rank), expected) << name << " rank " << rank;
      EXPECT_EQ(records_of(printed_, rank).size(), 8u) << name << " rank " << rank;
    }
  }
}

TEST_P(Calls, examples_are_counted_as_they_count) {
  for (const char* name : {"stencil", "pipeline", "overlap"}) {
    if (!std::filesystem::exists(program(name))) continue;  // no compiler for its language
    for (const int processes : {2, 4, 8}) {
      const std::filesystem::path folder = scratch_ / (name + std::to_string(processes));
      const ChildOutcome outcome = record(mpi_, processes, folder, {program(name)});
      ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
      expect_sound(folder);
      long sent = 0, received = 0, collectives = 0;
      for (const auto& [location, events] : printed_.events) {
        for (const std::string& text : records_of(printed_, location)) {
          const std::string what = text.substr(0, text.find(' '));
          const bool of_data = text.find("CREATE_HANDLE") == std::string::npos;
          sent += what == "SEND" || what == "ISEND";
          received += what == "RECV" || what == "IRECV";
          collectives += (what == "END" || what == "COMPLETE") && of_data;
        }
      }
      for (const auto& [what, count] : std::map<std::string, long>{
               {"sent", sent}, {"received", received}, {"collectives", collectives}}) {
        EXPECT_THAT(outcome.out, HasSubstr(what + " " + std::to_string(count) + "\n"))
            << name << " on " << processes;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Mpi, Calls, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace entrain::test
