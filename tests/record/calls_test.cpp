// SPDX-License-Identifier: BSD-3-Clause
// Programs that call everything are recorded exactly as they say themselves.
#include <gmock/gmock.h>

#include "record/recorded.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;

class Calls : public EveryMpi {
 protected:
  /// Runs `name` on four processes and compares the records with what it expected.
  void expect_recorded_as_told(const std::string& name) {
    const ChildOutcome outcome =
        record(mpi_, 4, scratch_ / "trace", {program(name), scratch_.path().string()});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
    EXPECT_EQ(outcome.out, name + " done\n");
    expect_sound(scratch_ / "trace");
    for (const char* rank : {"0", "1", "2", "3"}) {
      const auto expected = lines_of(scratch_ / (std::string("expected.") + rank));
      ASSERT_GT(expected.size(), 50u);
      EXPECT_EQ(records_of(printed_, rank), expected) << "rank " << rank;
    }
  }
};

TEST_P(Calls, EveryMessage) {
  expect_recorded_as_told("messages");
  if (IsSkipped() || HasFatalFailure()) return;
  // All messages are matched.
  for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
}

TEST_P(Calls, EveryCollectiveAndCommunicator) { expect_recorded_as_told("collectives"); }

TEST_P(Calls, InEveryLanguage) {
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

TEST_P(Calls, ExamplesAreCountedAsTheyCount) {
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
