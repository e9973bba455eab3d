// SPDX-License-Identifier: BSD-3-Clause
// Programs and settings of Intel Trace Collector.
#include <gmock/gmock.h>

#include <set>

#include "record/recorded.hpp"
#include "record/samples.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

class Vt : public EveryMpi {
 protected:
  [[nodiscard]] fs::path trace() const { return scratch_ / "trace"; }

  /// Runs a program on two processes with clocks of their own.
  ChildOutcome run(const std::string& name, std::map<std::string, std::string> variables = {}) {
    variables.try_emplace("ENTRAIN_VIRTUAL_NODES", "2");
    const WithVariables with(variables);
    return record(mpi_, 2, trace(), {program(name)});
  }

  /// Sessions of which there are samples.
  [[nodiscard]] std::set<std::uint64_t> sessions() const {
    std::set<std::uint64_t> all;
    for (const Sample& sample : samples_in(trace())) all.insert(sample.session);
    return all;
  }

  void expect_seven_sessions(const std::string& name) {
    const ChildOutcome plain =
        run_program(launch(mpi_, 2) + std::vector<std::string>{program(name)}, tool_limits());
    EXPECT_EQ(plain.exit_code, 0) << plain.summary();
    const ChildOutcome outcome = run(name);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
    EXPECT_EQ(sessions().size(), 7u);  // five, and those at begin and end
  }
};

TEST_P(Vt, programs_in_c_link_and_are_measured) { expect_seven_sessions("vt_timesync"); }

TEST_P(Vt, programs_in_fortran_link_and_are_measured) {
  if (mpi_.fortran.empty()) GTEST_SKIP() << "no Fortran";
  expect_seven_sessions("vt_timesync_f");
}

TEST_P(Vt, every_name_of_the_call_is_there) { expect_seven_sessions("vt_names"); }

TEST_P(Vt, a_configuration_file_sets_the_sessions) {
  const fs::path file = scratch_ / "itc.conf";
  std::ofstream(file) << "LOGFILE-NAME a.stf\nSYNC-MAX-MESSAGES 7\nSYNC-MAX-DURATION 2m\n";
  const ChildOutcome outcome = run("vt_timesync", {{"VT_CONFIG", file.string()}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  EXPECT_THAT(outcome.err, Not(HasSubstr("entrain record:")));
  EXPECT_EQ(samples_in(trace()).size(), 7u * 7u);
}

TEST_P(Vt, bad_lines_are_told_once_and_own_settings_win) {
  const fs::path file = scratch_ / "itc.conf";
  std::ofstream(file) << "SYNC-MAX-MESSAGES few\n";
  const ChildOutcome outcome = run("vt_timesync", {{"VT_CONFIG", file.string()},
                                                   {"VT_SYNC_MAX_DURATION", "soon"},
                                                   {"VT_SYNCED_CLUSTER", "on"},
                                                   {"ENTRAIN_SYNCED_CLUSTER", "no"}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  EXPECT_EQ(samples_in(trace()).size(), 7u * 100u);
  EXPECT_THAT(outcome.err, HasSubstr("VT_SYNC_MAX_DURATION is 'soon', but must be a number"));
  const std::string line = "SYNC-MAX-MESSAGES in line 1 of " + file.string() + " is 'few'";
  const auto first = outcome.err.find(line);
  ASSERT_NE(first, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find(line, first + 1), std::string::npos) << outcome.err;
}

TEST_P(Vt, one_clock_of_all_is_found_and_measured_no_more) {
  const std::map<std::string, std::string> one{{"ENTRAIN_SYNCED_HOST", "no"},
                                               {"VT_SYNCED_CLUSTER", "auto"}};
  const WithVariables with(one);
  const ChildOutcome outcome = record(mpi_, 3, trace(), {program("vt_timesync")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  EXPECT_EQ(sessions().size(), 0u);
}

TEST_P(Vt, different_clocks_are_measured_whatever_is_hoped) {
  const ChildOutcome outcome = run("vt_timesync", {{"ENTRAIN_SYNCED_CLUSTER", "auto"}});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  EXPECT_EQ(sessions().size(), 7u);
}

INSTANTIATE_TEST_SUITE_P(Mpi, Vt, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace entrain::test
