// SPDX-License-Identifier: BSD-3-Clause
// How programs are started under the recorder, with how many threads, and how they may end.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/recorded.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Run : public EveryMpi {
 protected:
  [[nodiscard]] fs::path trace() const { return scratch_ / "trace"; }

  void expect_ring(int processes, int rounds) {
    expect_sound(trace());
    for (int rank = 0; rank < processes; ++rank) {
      EXPECT_EQ(calls_of(printed_, std::to_string(rank))["MPI_Sendrecv"], rounds) << rank;
    }
    EXPECT_FALSE(fs::exists(trace() / "unfinished"));
  }

  /// What is left can be made an archive of.
  void expect_repairable() {
    EXPECT_FALSE(fs::exists(anchor_of(trace())));
    const ChildOutcome repaired = repair(trace());
    EXPECT_EQ(repaired.exit_code, 0) << repaired.summary() << repaired.err;
    EXPECT_THAT(repaired.out, HasSubstr("repaired"));
  }
};

TEST_P(Run, the_launcher_under_the_recorder) {
  const ChildOutcome outcome = record(mpi_, 3, trace(), {program("ring"), "20"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  EXPECT_EQ(outcome.out, "last from 2\n");
  expect_ring(3, 20);
}

TEST_P(Run, the_recorder_under_the_launcher) {
  const ChildOutcome outcome = run_program(
      launch(mpi_, 3) + std::vector<std::string>{ENTRAIN_BINARY, "record", "-o", trace().string(),
                                                 "--", program("ring"), "20"},
      tool_limits());
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  EXPECT_EQ(outcome.out, "last from 2\n");
  expect_ring(3, 20);
}

TEST_P(Run, several_programs_together) {
  const ChildOutcome outcome =
      record(mpi_, 1, trace(), {program("ring"), "20", ":", "-n", "2", program("ring"), "20"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  expect_ring(3, 20);
}

TEST_P(Run, one_process_without_a_launcher) {
  launch(mpi_, 1);
  const ChildOutcome outcome =
      run_tool({"record", "-o", trace().string(), "--", program("ring"), "20"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  expect_ring(1, 20);
}

TEST_P(Run, many_events_outgrow_the_buffer) {
  const ChildOutcome outcome =
      record(mpi_, 2, trace(), {program("ring"), "30000"}, {"--buffer", "1M"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  EXPECT_GT(fs::file_size(trace() / "traces" / "0.evt"), 1u << 20);
  expect_ring(2, 30000);
  EXPECT_EQ(check_["edges"]["p2p"]["count"], 60000);
}

TEST_P(Run, threads_have_locations_of_their_own) {
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("threads")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  if (outcome.out == "no threads\n") GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  expect_sound(trace());
  EXPECT_EQ(check_["locations"], 10);
  EXPECT_EQ(check_["edges"]["p2p"]["count"], 2 * 4 * 300);
  for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
  for (std::uint64_t rank = 0; rank < 2; ++rank) {
    for (std::uint64_t thread = 1; thread <= 4; ++thread) {
      auto calls = calls_of(printed_, std::to_string(thread << 32 | rank));
      EXPECT_EQ(calls["MPI_Isend"], 300);
      EXPECT_EQ(calls["MPI_Waitall"], 300);
      EXPECT_EQ(calls["MPI_Comm_dup"], 3);
      EXPECT_EQ(calls["MPI_Comm_free"], 3);
    }
  }
}

TEST_P(Run, children_of_the_program_are_not_recorded) {
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("ring"), "20", "fork"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary() << outcome.err;
  EXPECT_EQ(outcome.out, "last from 1\n");
  expect_ring(2, 20);
}

TEST_P(Run, without_finalize_the_archive_is_repaired) {
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("ring"), "20", "exit"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.summary();
  EXPECT_THAT(outcome.err, HasSubstr("entrain record --repair " + trace().string()));
  expect_repairable();
  expect_ring(2, 20);
}

TEST_P(Run, after_abort_the_archive_is_repaired) {
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("ring"), "20", "abort"});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.summary();
  expect_repairable();
  expect_ring(2, 20);
}

TEST_P(Run, a_process_that_is_killed_in_a_send_has_said_to_whom) {
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("stuck")});
  EXPECT_EQ(outcome.exit_code, 7) << outcome.summary();
  expect_repairable();
  printed_ = print_archive(anchor_of(trace()), true);
  EXPECT_EQ(printed_.exit_code, 0) << printed_.errors;
  const std::vector<std::string> records = records_of(printed_, "0");
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.back(), "SEND 1 MPI_COMM_WORLD 42 4");
}

TEST_P(Run, after_a_killed_process_the_archive_is_repaired) {
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("ring"), "10000", "kill"});
  EXPECT_NE(outcome.exit_code, 0);
  expect_repairable();
  expect_ring(2, 10000);
  EXPECT_EQ(run_tool({"record", "--repair", trace().string()}).exit_code, 2);
}

TEST_P(Run, a_running_program_is_not_repaired) {
  const std::string go_on = (scratch_ / "go-on").string();
  std::vector<std::string> command{
      "sh",
      "-c",
      "folder=$1; go_on=$2; shift 2; \"$@\" & program=$!\n"
      "while ! [ -s \"$folder/unfinished/0.journal\" ]; do sleep 0.1; done\n"
      "\"$0\" record --repair \"$folder\"; echo \"code $?\"; : > \"$go_on\"; wait $program",
      ENTRAIN_BINARY,
      trace().string(),
      go_on,
      ENTRAIN_BINARY,
      "record",
      "-o",
      trace().string(),
      "--"};
  command =
      command + launch(mpi_, 2) + std::vector<std::string>{program("ring"), "20", "until-" + go_on};
  const ChildOutcome outcome = run_program(command, tool_limits());
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  EXPECT_EQ(outcome.out, "code 2\nlast from 1\n");
  EXPECT_THAT(outcome.err, HasSubstr("is running; repair when it has ended"));
  expect_ring(2, 20);
}

TEST_P(Run, an_unwritable_folder_is_told_and_the_program_runs) {
  const fs::path file = scratch_ / "file";
  write_bytes(file, {});
  const ChildOutcome outcome = record(mpi_, 2, file / "trace", {program("ring"), "20"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  EXPECT_EQ(outcome.out, "last from 1\n");
  EXPECT_THAT(outcome.err, HasSubstr("cannot make the folder " + (file / "trace").string()));
}

TEST_P(Run, a_full_disk_is_told_and_the_program_runs) {
  // The disk is full for the recorder: a limit on the size of files, set after MPI_Init.
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("ring"), "40000", "full"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary() << outcome.err;
  EXPECT_EQ(outcome.out, "last from 1\n");
  EXPECT_THAT(outcome.err, HasSubstr("could not be written completely"));
  expect_repairable();
  expect_sound(trace());
  EXPECT_GT(calls_of(printed_, "0")["MPI_Sendrecv"], 1000);
}

TEST_P(Run, a_refused_start_leaves_nothing_behind) {
  fs::create_directories(trace() / "traces" / "of something else");
  const ChildOutcome outcome = record(mpi_, 2, trace(), {program("ring"), "20"});
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary();
  EXPECT_THAT(outcome.err, HasSubstr("Nothing is recorded"));
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("--repair")));
  EXPECT_FALSE(fs::exists(trace() / "unfinished"));
  EXPECT_TRUE(fs::exists(trace() / "traces" / "of something else"));
}

TEST_P(Run, no_room_at_the_beginning_is_told) {
  const fs::path disk = scratch_ / "disk";
  fs::create_directories(disk);
  const std::vector<std::string> small_disk{
      "unshare",    "-rm", "sh", "-c", "mount -t tmpfs -o size=16k none \"$0\" && exec \"$@\"",
      disk.string()};
  if (run_program(small_disk + std::vector<std::string>{"true"}, tool_limits()).exit_code != 0) {
    GTEST_SKIP() << "no file system can be mounted here";
  }
  const std::string folder = (disk / "trace").string();
  const std::vector<std::string> command =
      std::vector<std::string>{"sh",   "-c",           "\"$@\"; code=$?; ls -a \"$0\"; exit $code",
                               folder, ENTRAIN_BINARY, "record",
                               "-o",   folder,         "--"} +
      launch(mpi_, 2) + std::vector<std::string>{program("ring"), "20"};
  const ChildOutcome outcome = run_program(small_disk + command, tool_limits());
  EXPECT_EQ(outcome.exit_code, 3) << outcome.summary() << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("cannot write to " + folder + ": No space left on device"));
  EXPECT_THAT(outcome.out, testing::EndsWith(".\n..\n"));  // nothing else in the folder
}

TEST_P(Run, a_program_that_is_not_recorded_is_told) {
  const ChildOutcome outcome = record(mpi_, 2, trace(), {"/bin/echo", "hi"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  EXPECT_EQ(outcome.out, "hi\nhi\n");
  EXPECT_THAT(outcome.err, HasSubstr("no archive was written to " + trace().string()));
}

TEST_P(Run, an_existing_archive_is_kept) {
  ASSERT_EQ(record(mpi_, 2, trace(), {program("ring"), "5"}).exit_code, 3);
  const auto before = digest_tree(trace());
  expect_refusal(record(mpi_, 2, trace(), {program("ring"), "5"}), "holds an archive already");
  const ChildOutcome inside = run_program(
      launch(mpi_, 2) + std::vector<std::string>{ENTRAIN_BINARY, "record", "-o", trace().string(),
                                                 "--", program("ring"), "5"},
      tool_limits());
  EXPECT_EQ(inside.exit_code, 3);
  EXPECT_THAT(inside.err, HasSubstr("holds an archive already"));
  EXPECT_EQ(digest_tree(trace()), before);
}

TEST_P(Run, the_wrong_mpi_is_refused) {
  const std::string wrong = GetParam() == "mpich" ? "openmpi" : "mpich";
  const ChildOutcome outcome =
      run_tool({"record", "--mpi", wrong, "-o", trace().string(), "--", program("ring"), "1"});
  expect_refusal(outcome, "--mpi " + wrong + " is not the program's MPI, which is " + GetParam());
  EXPECT_FALSE(fs::exists(trace()));
}

INSTANTIATE_TEST_SUITE_P(Mpi, Run, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

TEST(RecordUsage, refusals) {
  expect_refusal(run_tool({"record"}), "there is no program to run");
  expect_refusal(run_tool({"record", "--bogus", "--", "true"}), "'--bogus' is not an option");
  expect_refusal(run_tool({"record", "--buffer", "1", "--", "true"}), "--buffer '1'");
  expect_refusal(run_tool({"record", "--max-size", "1", "--", "true"}), "--max-size '1'");
  expect_refusal(run_tool({"record", "--max-locations", "0", "--", "true"}), "--max-locations '0'");
  expect_refusal(run_tool({"record", "--repair", "here", "extra"}), "--repair takes one folder");
  expect_refusal(run_tool({"record", "--repair", "--", "true"}), "--repair takes one folder");
  expect_refusal(run_tool({"record", "--sync-drop", "1.5", "--", "true"}), "--sync-drop '1.5'");
  expect_refusal(run_tool({"record", "--no-sync", "--sync-period", "1", "--", "true"}),
                 "--no-sync measures nothing");
  expect_refusal(run_tool({"record", "--synced-cluster", "--sync-every", "5", "--", "true"}),
                 "--synced-cluster measures nothing");
}

TEST(RecordUsage, a_file_in_place_of_the_folder_is_told_before_the_program_runs) {
  TempFolder scratch;
  const fs::path file = scratch / "taken", ran = scratch / "ran";
  std::ofstream(file) << "mine";
  expect_refusal(run_tool({"record", "-o", file.string(), "--", "touch", ran.string()}),
                 "is a file; give a folder");
  EXPECT_FALSE(fs::exists(ran));
}

}  // namespace
}  // namespace entrain::test
