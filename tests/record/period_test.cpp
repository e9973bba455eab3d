// SPDX-License-Identifier: BSD-3-Clause
// Clock sessions every so many seconds, behind collective calls of the program or between two of
// its processes.
#include <gmock/gmock.h>

#include <set>

#include "record/clock_records.hpp"
#include "record/recorded.hpp"
#include "record/samples.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;

class PeriodicSessions : public EveryMpi {
 protected:
  /// Runs `periodic HOW SECONDS` on virtual nodes; the number of sessions.
  std::uint64_t run(int count, const std::string& how, const std::string& seconds,
                    const std::vector<std::string>& options = {"--sync-period", "0.2"}) {
    const std::map<std::string, std::string> variables{
        {"ENTRAIN_VIRTUAL_NODES", std::to_string(count)}};
    const WithVariables with(variables);
    const std::filesystem::path trace = scratch_ / (how + "-" + seconds);
    outcome_ =
        record(mpi_, count, trace, {program("periodic"), how, seconds},
               std::vector<std::string>{"--sync-max-messages", "10"} +
                   (options.empty() ? options
                                    : options + std::vector<std::string>{"--sync-budget", "100"}));
    EXPECT_EQ(outcome_.exit_code, 0) << outcome_.summary() << outcome_.err;
    if (outcome_.exit_code != 0 || outcome_.out == "no threads\n") return 0;
    EXPECT_EQ(outcome_.out, "periodic done\n");
    printed_ = print_archive(anchor_of(trace), true);
    EXPECT_EQ(printed_.exit_code, 0) << printed_.errors;
    std::map<std::uint64_t, std::map<std::uint64_t, int>> samples;
    for (const Sample& sample : samples_in(trace)) ++samples[sample.session][sample.rank];
    // On a busy machine there may be sessions of two, too: these count per process, and have no
    // region if the recorder's thread held them.
    if (outcome_.err.find("clock sessions of two processes") != std::string::npos) {
      return samples.size();
    }
    // All processes but rank 0 took part in each session, as many times as asked for.
    for (const auto& [session, ranks] : samples) {
      EXPECT_EQ(ranks.size(), static_cast<std::size_t>(count) - 1) << "session " << session;
      for (const auto& [rank, exchanges] : ranks) EXPECT_EQ(exchanges, 10);
    }
    for (int rank = 0; rank < count; ++rank) {
      EXPECT_EQ(calls_of(printed_, std::to_string(rank))["clock session"],
                static_cast<int>(samples.size()));
    }
    return samples.size();
  }

  /// The same with four processes that never all come together: the sessions of the other ranks
  /// but those of MPI_Init and MPI_Finalize.
  std::uint64_t run_apart(const std::string& how, const std::string& seconds,
                          const std::vector<std::string>& options = {}) {
    const std::map<std::string, std::string> variables{{"ENTRAIN_VIRTUAL_NODES", "4"}};
    const WithVariables with(variables);
    const std::filesystem::path trace = scratch_ / (how + "-" + seconds);
    outcome_ = record(mpi_, 4, trace, {program("periodic"), how, seconds},
                      std::vector<std::string>{"--sync-max-messages", "10", "--sync-period", "0.1",
                                               "--sync-budget", "20"} +
                          options);
    EXPECT_EQ(outcome_.exit_code, 0) << outcome_.summary() << outcome_.err;
    if (outcome_.exit_code != 0 || outcome_.out == "no threads\n") return 0;
    std::map<std::uint64_t, std::set<std::uint64_t>> sessions;
    for (const Sample& sample : samples_in(trace)) sessions[sample.rank].insert(sample.session);
    EXPECT_EQ(sessions.size(), 3u) << how;
    std::uint64_t between = 0;
    for (const auto& [rank, numbers] : sessions) {
      EXPECT_GE(numbers.size(), 2u) << how << ", rank " << rank;
      between += numbers.size() - 2;
    }
    if (!options.empty()) return between;
    printed_ = print_archive(anchor_of(trace), true);
    EXPECT_EQ(printed_.exit_code, 0) << printed_.errors;
    expect_bounds_to_hold(trace);
    return between;
  }

  /// What `sessions_of` says of a run that is long enough for so many sessions. How many fit into a
  /// second depends on how busy the machine is, so the run grows until they do.
  template <class SessionsOf>
  std::uint64_t longer_until(std::uint64_t enough, SessionsOf&& sessions_of) {
    std::uint64_t sessions = 0;
    for (const char* seconds : {"1.5", "6", "24"}) {
      sessions = sessions_of(seconds);
      if (sessions >= enough || outcome_.exit_code != 0 || outcome_.out == "no threads\n") break;
    }
    return sessions;
  }

  ChildOutcome outcome_;
};

TEST_P(PeriodicSessions, behind_collective_calls_over_all_processes) {
  for (const char* how : {"world", "copy", "both"}) {
    // That of MPI_Init, that of MPI_Finalize, and some between.
    const std::uint64_t sessions =
        longer_until(4, [&](const std::string& seconds) { return run(3, how, seconds); });
    EXPECT_GE(sessions, 4u) << how;
    EXPECT_THAT(outcome_.err, HasSubstr("periodic clock sessions took ")) << how;
  }
}

TEST_P(PeriodicSessions, stay_within_their_budget) {
  // With more processes than cores a whole session takes long; whatever it takes, decisions see it.
  const std::map<std::string, std::string> variables{{"ENTRAIN_VIRTUAL_NODES", "4"}};
  const WithVariables with(variables);
  const ChildOutcome outcome =
      record(mpi_, 4, scratch_ / "trace", {program("periodic"), "world", "2"},
             {"--sync-period", "0.01", "--sync-max-messages", "1000", "--sync-budget", "0"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary() << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("than --sync-budget allows"));
  std::set<std::uint64_t> sessions;
  for (const Sample& sample : samples_in(scratch_ / "trace")) sessions.insert(sample.session);
  EXPECT_EQ(sessions.size(), 2u);
}

TEST_P(PeriodicSessions, threads_at_the_same_time) {
  const std::uint64_t sessions =
      longer_until(3, [&](const std::string& seconds) { return run(2, "threads", seconds); });
  if (outcome_.out == "no threads\n") GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  EXPECT_GE(sessions, 3u);
  EXPECT_THAT(outcome_.err, HasSubstr("periodic clock sessions took "));
}

TEST_P(PeriodicSessions, of_two_processes_without_such_calls) {
  for (const char* how : {"halves", "none", "apart", "mixed"}) {
    const std::uint64_t between =
        longer_until(3, [&](const std::string& seconds) { return run_apart(how, seconds); });
    if (outcome_.out == "no threads\n") continue;
    EXPECT_GE(between, 3u) << how;
    EXPECT_THAT(outcome_.err, HasSubstr("clock sessions of two processes each")) << how;
  }
}

TEST_P(PeriodicSessions, of_two_processes_beside_another_tracer) {
  const std::uint64_t between = longer_until(
      2, [&](const std::string& seconds) { return run_apart("none", seconds, {"--clocks-only"}); });
  EXPECT_GE(between, 2u);
}

TEST_P(PeriodicSessions, a_run_without_any_is_told) {
  EXPECT_EQ(run(2, "none", "0.3", {"--sync-period", "60"}), 2u);
  EXPECT_THAT(outcome_.err, HasSubstr("no periodic clock session was held: the run was shorter"));
}

TEST_P(PeriodicSessions, off_by_default) {
  EXPECT_EQ(run(2, "world", "0.6", {}), 2u);
  EXPECT_EQ(outcome_.err.find("periodic"), std::string::npos) << outcome_.err;
}

TEST_P(PeriodicSessions, a_word_at_every_call_if_asked_for) {
  const std::uint64_t sessions = longer_until(3, [&](const std::string& seconds) {
    return run(2, "world", seconds, {"--sync-period", "0.2", "--sync-every", "1"});
  });
  EXPECT_GE(sessions, 3u);
}

TEST_P(PeriodicSessions, one_clock_needs_none) {
  const ChildOutcome outcome = record(
      mpi_, 2, scratch_ / "trace", {program("periodic"), "world", "0.5"}, {"--sync-period", "0.1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.summary();
  EXPECT_EQ(outcome.err.find("periodic"), std::string::npos) << outcome.err;
  expect_sound(scratch_ / "trace");
  EXPECT_EQ(calls_of(printed_, "0")["clock session"], 2);
}

INSTANTIATE_TEST_SUITE_P(Mpi, PeriodicSessions, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace entrain::test
