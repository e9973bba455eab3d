// SPDX-License-Identifier: BSD-3-Clause
// Programs with several threads: nobody waits for a lock of the recorder while another process
// waits for him, every level of threads may mark regions, and threads may come, go and be left
// behind.
#include <gmock/gmock.h>

#include "record/recorded.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;

class Threads : public EveryMpi {
 protected:
  [[nodiscard]] fs::path trace() const { return scratch_ / "trace"; }
};

TEST_P(Threads, a_thread_sends_while_another_measures_clocks) {
  const std::map<std::string, std::string> variables{{"ENTRAIN_VIRTUAL_NODES", "2"}};
  const WithVariables with(variables);
  for (const char* how : {"sync", "period"}) {
    const ChildOutcome outcome = record(mpi_, 2, scratch_ / how, {program("crossing"), how},
                                        {"--sync-period", "0.05", "--sync-budget", "100"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
    if (outcome.out == "no threads\n") GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
    EXPECT_EQ(outcome.out, "crossed\n");
    printed_ = print_archive(anchor_of(scratch_ / how), true);
    EXPECT_EQ(printed_.exit_code, 0) << printed_.errors;
    EXPECT_GE(calls_of(printed_, "0")["clock session"], 3) << how;
  }
}

TEST_P(Threads, mark_regions_at_every_level) {
  for (const char* level : {"single", "funneled", "serialized"}) {
    const fs::path folder = scratch_ / level;
    const ChildOutcome outcome = record(mpi_, 1, folder, {program("workers"), level});
    ASSERT_EQ(outcome.exit_code, 0) << level << outcome.summary() << outcome.err;
    EXPECT_EQ(outcome.out, "workers done\n");
    expect_sound(folder);
    EXPECT_EQ(calls_of(printed_, "0")["MPI_Comm_set_name"], 2000);
    // The workers came in any order.
    int marked = 0;
    for (const auto& [location, events] : printed_.events) {
      for (const auto& [region, count] : calls_of(printed_, location)) {
        if (region.starts_with("worker ")) marked += count;
      }
    }
    EXPECT_EQ(marked, 2 * 5000) << level;
  }
}

TEST_P(Threads, left_behind_in_mpi_leave_a_readable_rest) {
  for (const auto& [how, code] : {std::pair{"exit", 3}, std::pair{"abort", 9}}) {
    const fs::path folder = scratch_ / how;
    const ChildOutcome outcome = record(mpi_, 2, folder, {program("leaving"), how});
    if (outcome.out == "no threads\n") GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
    ASSERT_EQ(outcome.exit_code, code) << outcome.summary() << outcome.err;
    const ChildOutcome repaired = repair(folder);
    ASSERT_EQ(repaired.exit_code, 0) << repaired.summary() << repaired.err;
    printed_ = print_archive(anchor_of(folder), true);
    EXPECT_EQ(printed_.exit_code, 0) << how << printed_.errors;
    EXPECT_EQ(calls_of(printed_, "0")["MPI_Barrier"], 200) << how;
    for (const std::uint64_t thread : {1, 2}) {
      EXPECT_GT(calls_of(printed_, std::to_string(thread << 32))["MPI_Waitall"], 199) << how;
    }
  }
}

TEST_P(Threads, come_and_go_without_end) {
  const ChildOutcome outcome = record(mpi_, 1, trace(), {program("short_threads")});
  if (outcome.out == "no threads\n") GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  EXPECT_EQ(outcome.out, "short threads done\n");
  expect_sound(trace());
  EXPECT_EQ(check_["locations"], 1 + 40);
  int called = 0, left = 0;
  for (const auto& [location, events] : printed_.events) {
    called += calls_of(printed_, location)["MPI_Comm_rank"];
    for (std::size_t at = 0; (at = events.find("LEAVE", at)) != std::string::npos; ++at) {
      left += events.substr(at, events.find('\n', at) - at).find("\"short\"") != std::string::npos;
    }
  }
  EXPECT_EQ(called, 600 + 40);
  EXPECT_EQ(left, 600 + 40);
}

INSTANTIATE_TEST_SUITE_P(Mpi, Threads, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace entrain::test
