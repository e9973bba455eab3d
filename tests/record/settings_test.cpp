// SPDX-License-Identifier: BSD-3-Clause
// What the recorder is told: one word for all processes, however they come by it.
#include <sstream>

#include <gmock/gmock.h>

#include "record/recorded.hpp"
#include "record/samples.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class RecordSettings : public EveryMpi {
 protected:
  [[nodiscard]] fs::path trace() const { return scratch_ / "trace"; }

  /// Runs ring on four virtual nodes, where rank `rank` alone has the variable.
  ChildOutcome run_with(int rank, const std::string& variable, const fs::path& folder) {
    const std::map<std::string, std::string> nodes{{"ENTRAIN_VIRTUAL_NODES", "4"}};
    const WithVariables with(nodes);
    std::vector<std::string> command;
    for (int i = 0; i < 4; ++i) {
      if (i > 0) command = command + std::vector<std::string>{":", "-n", "1"};
      if (i == rank) command = command + std::vector<std::string>{"env", variable};
      command = command + std::vector<std::string>{program("ring"), "20", "sync"};
    }
    return record(mpi_, 1, folder, command);
  }
};

TEST_P(RecordSettings, those_of_rank_zero_hold_for_all) {
  int run = 0;
  for (const char* variable :
       {"ENTRAIN_SYNC_FANOUT=1", "ENTRAIN_SYNC=off", "ENTRAIN_SYNC_PERIOD=0.01"}) {
    for (const int rank : {0, 2}) {
      const fs::path folder = scratch_ / std::to_string(run++);
      const ChildOutcome outcome = run_with(rank, variable, folder);
      ASSERT_EQ(outcome.exit_code, 3) << variable << rank << outcome.summary() << outcome.err;
      EXPECT_THAT(outcome.err, HasSubstr("differ; those of rank 0 are used")) << variable;
      // With a fanout of 1 the processes form a chain; otherwise all are children of rank 0.
      const auto samples = samples_in(folder);
      const bool none = rank == 0 && std::string(variable) == "ENTRAIN_SYNC=off";
      const bool chain = rank == 0 && std::string(variable) == "ENTRAIN_SYNC_FANOUT=1";
      EXPECT_EQ(samples.empty(), none) << variable << rank;
      for (const Sample& sample : samples) {
        ASSERT_EQ(sample.parent, chain ? sample.rank - 1 : 0) << variable << rank;
      }
    }
  }
}

TEST_P(RecordSettings, a_linked_program_beside_others_needs_nothing) {
  // Nothing is recorded, and nobody waits for the process that has no recorder.
  const std::vector<std::string> command =
      launch(mpi_, 1) +
      std::vector<std::string>{program("ring_linked"), "20", ":", "-n", "1", program("ring"), "20"};
  const ChildOutcome outcome = run_program(command, tool_limits());
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  EXPECT_EQ(outcome.out, "last from 1\n");
}

TEST_P(RecordSettings, a_slash_behind_the_folder_means_nothing) {
  const std::map<std::string, std::string> variables{{"ENTRAIN_VIRTUAL_NODES", "2"}};
  const WithVariables with(variables);
  const ChildOutcome outcome = record(mpi_, 2, trace() / "", {program("ring"), "20"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary() << outcome.err;
  EXPECT_TRUE(fs::exists(anchor_of(trace())));
  EXPECT_TRUE(fs::exists(anchor_of(trace().string() + ".truth")));
}

TEST_P(RecordSettings, a_program_may_go_elsewhere) {
  const std::map<std::string, std::string> variables{{"ENTRAIN_RECORD_DIR", "trace"}};
  const WithVariables with(variables);
  std::vector<std::string> command{"sh", "-c", "cd \"$0\" && exec \"$@\"",
                                   scratch_.path().string()};
  command = command + launch(mpi_, 2) +
            std::vector<std::string>{
                "env",
                "LD_PRELOAD=" + (fs::path(ENTRAIN_BINARY).parent_path().parent_path() / "lib" /
                                 "entrain" / ("libentrain-record-" + mpi_.name + ".so"))
                                    .string(),
                program("elsewhere"), "/"};
  const ChildOutcome outcome = run_program(command, tool_limits());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  EXPECT_EQ(outcome.out, "elsewhere\n");
  expect_sound(trace());
}

TEST_P(RecordSettings, every_bad_variable_is_told) {
  const std::map<std::string, std::string> variables{{"ENTRAIN_SYNC_DROP", "2"},
                                                     {"ENTRAIN_SYNC_MAX_MESSAGES", "1.5"}};
  const WithVariables with(variables);
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("ring"), "20"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary() << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("ENTRAIN_SYNC_DROP is '2'"));
  EXPECT_THAT(outcome.err, HasSubstr("ENTRAIN_SYNC_MAX_MESSAGES is '1.5'"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("differ")));
}

/// Values may be anything: what they hold must not reach the terminal, nor fill it.
TEST_P(RecordSettings, bad_values_are_told_printable_and_short) {
  std::string value;
  for (int i = 0; i < 300; ++i) value += "a\x1B[31m\u202E";
  const std::map<std::string, std::string> variables{{"ENTRAIN_SYNC_DROP", value},
                                                     {"ENTRAIN_SYNC_FANOUT", value},
                                                     {"ENTRAIN_RECORD_BUFFER", value}};
  const WithVariables with(variables);
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("ring"), "20"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary() << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("ENTRAIN_SYNC_DROP is 'a\\u001b[31m\\u202e"));
  EXPECT_THAT(outcome.err, HasSubstr("ENTRAIN_RECORD_BUFFER is 'a\\u001b"));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\x1B")));
  EXPECT_THAT(outcome.err, Not(HasSubstr("\u202E")));
  std::istringstream lines(outcome.err);
  for (std::string line; std::getline(lines, line);) EXPECT_LT(line.size(), 400u) << line;
}

INSTANTIATE_TEST_SUITE_P(Mpi, RecordSettings, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace entrain::test
