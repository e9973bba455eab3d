// SPDX-License-Identifier: BSD-3-Clause
// What `entrain record` makes of its options, and of the libraries that lie beside it: with made-up
// launchers and libraries, so that nothing is recorded.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <algorithm>

#include "record/recorded.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class RecordOptions : public testing::Test {
 protected:
  /// A program that says what it is given.
  std::string script(const std::string& name, const std::string& text) const {
    std::ofstream(scratch_ / name) << "#!/bin/sh\n" << text << '\n';
    ::chmod((scratch_ / name).c_str(), 0755);
    return (scratch_ / name).string();
  }
  /// Runs `tool record` with these libraries of recorders beside the tool.
  ChildOutcome record_beside(const std::vector<std::string>& mpis,
                             const std::vector<std::string>& arguments) const {
    const fs::path libraries = scratch_ / "lib" / "entrain", tool = scratch_ / "bin" / "entrain";
    fs::remove_all(libraries);
    fs::create_directories(libraries);
    for (const std::string& mpi : mpis) std::ofstream(libraries / library(mpi));
    fs::create_directories(tool.parent_path());
    std::error_code other_disk;
    if (!fs::exists(tool)) fs::create_hard_link(ENTRAIN_BINARY, tool, other_disk);
    if (!fs::exists(tool)) fs::copy_file(ENTRAIN_BINARY, tool);
    return run_program(std::vector<std::string>{tool.string(), "record", "-o", trace()} + arguments,
                       tool_limits());
  }
  static std::string library(const std::string& mpi) { return "libentrain-record-" + mpi + ".so"; }
  [[nodiscard]] std::string trace() const { return (scratch_ / "trace").string(); }

  TempFolder scratch_;
};

TEST_F(RecordOptions, become_variables_of_the_recorder) {
  const std::string srun = script("srun", "env; echo \"words: $*\"; exit 4");
  const std::map<std::string, std::string> variables{{"ENTRAIN_SYNC_FANOUT", "99"},
                                                     {"ENTRAIN_VIRTUAL_NODES", "2"},
                                                     {"VT_CONFIG", "config"},
                                                     {"VT_SYNC_PERIOD", "5"},
                                                     {"VT_OTHER", "6"},
                                                     {"LD_PRELOAD", ""}};
  const WithVariables with(variables);
  const ChildOutcome outcome = record_beside({"openmpi"}, {"--mpi",
                                                           "openmpi",
                                                           "--buffer",
                                                           "2M",
                                                           "--max-size",
                                                           "1G",
                                                           "--max-locations",
                                                           "7",
                                                           "--timer",
                                                           "tsc",
                                                           "--sync-drop",
                                                           "0.25",
                                                           "--sync-every",
                                                           "11",
                                                           "--sync-fanout",
                                                           "3",
                                                           "--sync-period",
                                                           "2",
                                                           "--sync-budget",
                                                           "50",
                                                           "--sync-max-messages",
                                                           "9",
                                                           "--sync-max-duration",
                                                           "1.5",
                                                           "--synced-host",
                                                           "no",
                                                           "--",
                                                           srun,
                                                           "-n",
                                                           "2",
                                                           "app"});
  EXPECT_EQ(outcome.exit_code, 4) << outcome.summary() << outcome.err;
  for (const char* variable :
       {"ENTRAIN_RECORD_BUFFER=2097152", "ENTRAIN_RECORD_MAX_SIZE=1073741824",
        "ENTRAIN_RECORD_MAX_LOCATIONS=7", "ENTRAIN_RECORD_TIMER=tsc", "ENTRAIN_SYNC_DROP=0.25",
        "ENTRAIN_SYNC_EVERY=11", "ENTRAIN_SYNC_FANOUT=3", "ENTRAIN_SYNC_PERIOD=2",
        "ENTRAIN_SYNC_BUDGET=50", "ENTRAIN_SYNC_MAX_MESSAGES=9", "ENTRAIN_SYNC_MAX_DURATION=1.5",
        "ENTRAIN_SYNCED_HOST=no", "ENTRAIN_RECORD_LAUNCHED=1"}) {
    EXPECT_THAT(outcome.out, HasSubstr(std::string("\n") + variable + "\n"));
  }
  EXPECT_THAT(outcome.out, HasSubstr("ENTRAIN_RECORD_DIR=" + trace() + "\n"));
  // The launcher hands on what is in the environment only, too.
  const std::string words =
      outcome.out.substr(std::min(outcome.out.find("words: "), outcome.out.size()));
  EXPECT_THAT(words, AllOf(HasSubstr(library("openmpi") + ","), HasSubstr("VT_CONFIG"),
                           HasSubstr("VT_SYNC_PERIOD"), HasSubstr("ENTRAIN_VIRTUAL_NODES"),
                           Not(HasSubstr("VT_OTHER"))));
  EXPECT_EQ(words.find("ENTRAIN_SYNC_FANOUT"), words.rfind("ENTRAIN_SYNC_FANOUT"));
  EXPECT_EQ(words.find("LAUNCHED"), words.rfind("LAUNCHED"));
  EXPECT_THAT(outcome.err, HasSubstr("no archive was written to " + trace()));
}

TEST_F(RecordOptions, switches_become_variables) {
  const std::string srun = script("srun", "env; mkdir -p " + trace() + "/unfinished");
  const auto said = [&](const std::vector<std::string>& options) {
    fs::remove_all(trace());
    return record_beside({"mpich"},
                         options + std::vector<std::string>{"--mpi", "mpich", "--", srun, "app"});
  };
  EXPECT_THAT(said({"--no-sync"}).out, HasSubstr("\nENTRAIN_SYNC=off\n"));
  EXPECT_THAT(said({"--synced-cluster"}).out, HasSubstr("\nENTRAIN_SYNCED_CLUSTER=yes\n"));
  const ChildOutcome clocks = said({"--clocks-only", "--timer", "realtime"});
  EXPECT_THAT(clocks.out, HasSubstr("\nENTRAIN_RECORD_CLOCKS_ONLY=on\n"));
  EXPECT_THAT(clocks.err, HasSubstr("finish what it recorded with entrain record --repair"));
  // What lies there is not overwritten.
  const auto again =
      record_beside({"mpich"}, {"--mpi", "mpich", "--clocks-only", "--", srun, "app"});
  expect_refusal(again, "holds clock measurements already");
}

TEST_F(RecordOptions, that_contradict_are_told_before_the_program_runs) {
  const auto refusal = [&](const std::vector<std::string>& options, const std::string& part) {
    expect_refusal(
        record_beside({"mpich"}, options + std::vector<std::string>{"--", "touch",
                                                                    (scratch_ / "ran").string()}),
        part);
  };
  refusal({"--clocks-only", "--no-sync"}, "--clocks-only measures clocks");
  refusal({"--clocks-only", "--synced-cluster"}, "--clocks-only measures clocks");
  refusal({"--clocks-only", "--buffer", "2M"}, "--clocks-only records no events");
  refusal({"--clocks-only", "--max-locations", "2"}, "--clocks-only records no events");
  refusal({"--timer", "realtime"}, "--timer realtime stamps no events");
  refusal({"--no-sync", "--sync-budget", "2"}, "--no-sync measures nothing");
  refusal({"--buffer", "2T"}, "--buffer '2T'");
  refusal({"--sync-budget", "101"}, "--sync-budget '101'");
  refusal({"--synced-host", "maybe"}, "--synced-host");
  {
    const std::map<std::string, std::string> variables{{"ENTRAIN_RECORD_CLOCKS_ONLY", "on"}};
    const WithVariables with(variables);
    refusal({"--buffer", "2M"}, "--clocks-only records no events");
  }
  const std::map<std::string, std::string> variables{{"ENTRAIN_RECORD_CLOCKS_ONLY", "off"}};
  const WithVariables with(variables);
  refusal({"--timer", "realtime"}, "--timer realtime stamps no events");
  EXPECT_FALSE(fs::exists(scratch_ / "ran"));
}

TEST_F(RecordOptions, find_the_recorder_that_the_program_needs) {
  expect_refusal(record_beside({}, {"--", "true"}), "there is no recorder in ");
  expect_refusal(record_beside({}, {"--mpi", "mpich", "--", "true"}), "there is no recorder in ");
  expect_refusal(record_beside({"openmpi", "mpich"}, {"--", "true"}),
                 "name it with --mpi openmpi or --mpi mpich");
  expect_refusal(record_beside({"mpich"}, {"--mpi", "openmpi", "--", "true"}),
                 "no recorder for the program's MPI (openmpi), only for mpich");
  const std::string mpirun = script("mpirun", "echo HYDRA; echo \"words: $*\"");
  expect_refusal(record_beside({"openmpi"}, {"--", mpirun, "true"}),
                 "no recorder for the program's MPI (mpich), only for openmpi");
  expect_refusal(record_beside({"openmpi", "mpich"}, {"--mpi", "openmpi", "--", mpirun, "true"}),
                 "--mpi openmpi is not the program's MPI, which is mpich");
  EXPECT_THAT(record_beside({"openmpi", "mpich"}, {"--", mpirun, "true"}).out,
              HasSubstr(library("mpich")));
  // The only one is taken where nothing tells which one the program needs.
  const std::string srun = script("srun", "echo \"words: $*\"");
  EXPECT_THAT(record_beside({"mpich"}, {"--", srun, "true"}).out, HasSubstr(library("mpich")));
}

TEST_F(RecordOptions, repair_needs_its_program) {
  fs::create_directories(trace());
  expect_refusal(record_beside({}, {"--repair", trace()}), "which repairs; the recorder is built");
}

TEST_F(RecordOptions, a_preloaded_library_stays) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers want to be loaded first";
#endif
  const std::string srun = script("srun", "echo \"words: $*\"");
  const std::map<std::string, std::string> variables{{"LD_PRELOAD", "libm.so.6"}};
  const WithVariables with(variables);
  EXPECT_THAT(record_beside({"mpich"}, {"--", srun, "true"}).out,
              HasSubstr(library("mpich") + ":libm.so.6,"));
}

}  // namespace
}  // namespace entrain::test
