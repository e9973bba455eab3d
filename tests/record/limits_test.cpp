// SPDX-License-Identifier: BSD-3-Clause
// A process that may record no more goes on as if nothing had happened, and what it recorded until
// then is a whole archive.
#include <gmock/gmock.h>

#include "record/recorded.hpp"
#include "record/samples.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

std::size_t count_of(const std::string& part, const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

class Limits : public EveryMpi {
 protected:
  [[nodiscard]] fs::path trace() const { return scratch_ / "trace"; }

  /// Runs the program limits under a limit of its `which`; its results are the same as ever.
  void run(const std::string& which, const std::vector<std::string>& options) {
    const std::vector<std::string> command{program("limits"), which};
    const ChildOutcome plain = run_program(launch(mpi_, 3) + command, tool_limits());
    ASSERT_EQ(plain.exit_code, 0) << plain.summary() << plain.err;
    if (plain.out == "no threads\n") GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
    const std::map<std::string, std::string> variables{{"ENTRAIN_VIRTUAL_NODES", "3"}};
    const WithVariables with(variables);
    outcome_ = record(mpi_, 3, trace(), command, options);
    ASSERT_EQ(outcome_.exit_code, 0) << outcome_.summary() << outcome_.err;
    EXPECT_EQ(outcome_.out, plain.out);
  }

  /// Rank 0 was stopped after its first 20 messages to rank 1; the others went on.
  void expect_stopped() {
    expect_sound(trace());
    EXPECT_FALSE(fs::exists(trace() / "unfinished"));
    EXPECT_EQ(calls_of(printed_, "0")["MPI_Send"], 20);
    EXPECT_EQ(check_["unmatched"]["receives"], 2 * 20);
    EXPECT_EQ(check_["edges"]["p2p"]["count"], 2 * 20);
    for (const auto& [location, events] : printed_.events) {
      // Regions end before the recording does.
      EXPECT_EQ(count_of("ENTER ", events), count_of("LEAVE ", events)) << location;
      const bool stopped = location != "1" && location != "2";
      EXPECT_EQ(count_of("Mode: OFF", events), stopped ? 1u : 0u) << location;
    }
    // Clocks were measured until the end, by all.
    std::map<std::uint64_t, std::map<std::uint64_t, int>> sessions;
    for (const Sample& sample : samples_in(trace())) ++sessions[sample.session][sample.rank];
    EXPECT_EQ(sessions.size(), 3u);
    for (const auto& [session, ranks] : sessions) EXPECT_EQ(ranks.size(), 2u) << session;
    // Those who are recorded further have the right partners in what rank 0 made with them.
    EXPECT_THAT(members_of("inner"), "0 2");
    EXPECT_THAT(members_of("outer"), "1 2");
  }

  /// Ranks of a communicator.
  [[nodiscard]] std::string members_of(const std::string& name) const {
    std::smatch comm, group;
    const std::regex comm_line("COMM +[0-9]+ +Name: \"" + name + "\".*Group: \"\" <([0-9]+)>");
    if (!std::regex_search(printed_.definitions, comm, comm_line)) return "no such communicator";
    const std::regex group_line("GROUP +" + comm[1].str() + " +Name.* Members?: (.*)");
    if (!std::regex_search(printed_.definitions, group, group_line)) return "no such group";
    static const std::regex k_rank("([0-9]+) \\(");
    const std::string members = group[1];
    std::string ranks;
    for (std::sregex_iterator one(members.begin(), members.end(), k_rank), end; one != end; ++one) {
      ranks += (ranks.empty() ? "" : " ") + (*one)[1].str();
    }
    return ranks;
  }

  ChildOutcome outcome_;
};

TEST_P(Limits, of_the_size) {
  run("size", {"--max-size", "1M"});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(count_of("in 1 of 3 processes the recording ended before the program, at the limit of "
                     "1048576 bytes",
                     outcome_.err),
            1u)
      << outcome_.err;
  expect_stopped();
  const auto size = fs::file_size(trace() / "traces" / "0.evt");
  EXPECT_LE(size, 1u << 20);
  EXPECT_GT(size, 1u << 19);
  EXPECT_GT(calls_of(printed_, "0")["MPI_Comm_size"], 10000);
  EXPECT_LT(calls_of(printed_, "0")["MPI_Comm_size"], 60000);
}

TEST_P(Limits, of_the_locations) {
  run("threads", {"--max-locations", "2"});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(count_of("in 1 of 3 processes the recording ended before the program, where they had "
                     "more than 2 threads",
                     outcome_.err),
            1u)
      << outcome_.err;
  expect_stopped();
  EXPECT_EQ(check_["locations"], 4);
}

TEST_P(Limits, are_repaired_like_any_other) {
  const ChildOutcome outcome = record(mpi_, 3, trace(), {program("limits"), "size", "exit"},
                                      {"--max-size", "1M", "--max-locations", "5"});
  if (outcome.out == "no threads\n") GTEST_SKIP() << "this MPI has no MPI_THREAD_MULTIPLE";
  const ChildOutcome repaired = repair(trace());
  EXPECT_EQ(repaired.exit_code, 0) << repaired.summary() << repaired.err;
  EXPECT_THAT(repaired.out, HasSubstr("limited   1, whose recording ended at --max-size"));
  expect_sound(trace());
  EXPECT_EQ(check_["unmatched"]["receives"], 2 * 20);
}

TEST_P(Limits, that_nobody_reaches_change_nothing) {
  run("little", {"--max-size", "1M", "--max-locations", "1"});
  if (IsSkipped() || HasFatalFailure()) return;
  EXPECT_EQ(outcome_.err.find("entrain record:"), std::string::npos) << outcome_.err;
  expect_sound(trace());
  for (const auto& [what, count] : check_["unmatched"].items()) EXPECT_EQ(count, 0) << what;
  EXPECT_EQ(check_["edges"]["p2p"]["count"], 4 * 20);
}

INSTANTIATE_TEST_SUITE_P(Mpi, Limits, testing::Values("openmpi", "mpich"),
                         [](const auto& which) { return which.param; });

}  // namespace
}  // namespace entrain::test
