// SPDX-License-Identifier: BSD-3-Clause
//
// The verdicts of check and correct, and the exit codes that tell them.
#include <filesystem>

#include <gmock/gmock.h>

#include "cli/tool.hpp"
#include "support/archive_builder.hpp"
#include "support/files.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr std::uint8_t k_alltoallv = 9;
constexpr std::uint32_t k_no_root = 0xFFFFFFFFu;

/// An archive of two processes, their locations 0 and 1.
class Verdict : public testing::Test {
 protected:
  Verdict() : archive_(scratch_ / "in") {
    const auto node = archive_.node("n0");
    for (std::uint64_t l = 0; l < 2; ++l) {
      archive_.location(l, archive_.process("MPI Rank " + std::to_string(l), node));
    }
    world_ = archive_.comm("MPI_COMM_WORLD", {0, 1});
    work_ = archive_.region("work", Role::function, Paradigm::user);
  }

  void message(std::uint64_t sent, std::uint64_t received) {
    archive_.at(0).send(sent, 1, world_, 7);
    archive_.at(1).recv(received, 0, world_, 7);
  }
  void alltoallv(std::uint64_t begin) {
    for (std::uint64_t l = 0; l < 2; ++l) {
      archive_.at(l).collective_begin(begin).collective_end(begin + 9 + l, k_alltoallv, world_,
                                                            k_no_root);
    }
  }

  /// Runs check with these options more, as JSON and for people; both must end with this code.
  Json check(int exit_code, const std::vector<std::string>& options = {}) {
    if (!finished_) archive_.finish();
    finished_ = true;
    std::vector<std::string> command{"check", (scratch_ / "in").string()};
    command.insert(command.end(), options.begin(), options.end());
    const ChildOutcome shown = run_tool(command);
    EXPECT_EQ(shown.exit_code, exit_code) << shown.summary();
    text_ = shown.out;
    command.emplace_back("--json");
    const ChildOutcome outcome = run_tool(command);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.summary();
    return json_of(outcome);
  }
  /// The same with correct.
  Json correct(int exit_code, const std::vector<std::string>& options = {}) {
    if (!finished_) archive_.finish();
    finished_ = true;
    std::vector<std::string> command{"correct", (scratch_ / "in").string(), "-o",
                                     (scratch_ / "out").string(), "--force"};
    command.insert(command.end(), options.begin(), options.end());
    const ChildOutcome shown = run_tool(command);
    EXPECT_EQ(shown.exit_code, exit_code) << shown.summary();
    text_ = shown.out;
    EXPECT_TRUE(std::filesystem::exists(scratch_ / "out" / "traces.otf2"));
    command.emplace_back("--json");
    const ChildOutcome outcome = run_tool(command);
    EXPECT_EQ(outcome.exit_code, exit_code) << outcome.summary();
    return json_of(outcome);
  }

  TempFolder scratch_;
  ArchiveBuilder archive_;
  std::uint32_t world_ = 0, work_ = 0;
  bool finished_ = false;
  std::string text_;
};

TEST_F(Verdict, is_clean_where_enough_was_checked) {
  message(1000, 2000);
  const Json json = check(0);
  EXPECT_EQ(json["verdict"], "clean");
  EXPECT_TRUE(json["verdict_reason"].is_null());
  EXPECT_EQ(json["checked_edges"], 1);
  EXPECT_EQ(json["coverage"].dump(),
            R"({"receives":1,"paired":1,"ambiguous":0,"lost":0,"in_gaps":0,)"
            R"("collective_calls":0,"in_instances":0,"alltoallv_skipped":0,)"
            R"("neighbourhood_skipped":0,"share":1.0})");
  EXPECT_THAT(verdict_of(text_), StartsWith("Clean: none of 1 edge is violated; 100 % of the "));
  EXPECT_EQ(correct(0)["verdict"], "clean");
  EXPECT_THAT(verdict_of(text_), HasSubstr("there was nothing to correct"));
}

TEST_F(Verdict, calls_no_clock_right_that_nothing_ties_to_others) {
  archive_.location(2, archive_.process("MPI Rank 2", archive_.node("n1")));
  message(1000, 2000);
  archive_.at(2).enter(1000, work_).leave(2000, work_);
  const Json json = check(0);
  EXPECT_THAT(text_, HasSubstr("2 clocks are right. Nothing ties 1 clock to the others."));
  EXPECT_EQ(json["clocks"][2]["clock"], "MPI Rank 2");
  EXPECT_EQ(json["clocks"][2]["state"], "untied");
  const ChildOutcome clocks = run_tool({"clocks", (scratch_ / "in").string()});
  EXPECT_THAT(clocks.out, StartsWith("2 clocks are right. Nothing ties 1 clock to the others."));
}

/// Of two ranks of a node one has no message; the user says that they share a clock.
TEST_F(Verdict, ties_clocks_that_are_said_to_be_one) {
  const auto node = archive_.node("n2");
  for (const std::uint64_t l : {2U, 3U}) {
    archive_.location(l, archive_.process("MPI Rank " + std::to_string(l), node));
  }
  const auto all = archive_.comm("all", {0, 1, 2, 3});
  archive_.at(1).send(1000, 2, all, 7);
  archive_.at(2).recv(2000, 1, all, 7);
  message(3000, 4000);
  archive_.at(3).enter(1000, work_).leave(2000, work_);
  check(0);
  EXPECT_THAT(text_, HasSubstr("Nothing ties 1 clock to the others."));
  check(0, {"--clock-domain", "node"});
  EXPECT_THAT(text_, Not(HasSubstr("Nothing ties")));
}

TEST_F(Verdict, is_violations_where_a_receive_comes_first) {
  message(1000, 900);
  EXPECT_EQ(check(1)["verdict"], "violations");
  EXPECT_THAT(verdict_of(text_), StartsWith("Violations: 1 of 1 edge is violated: the receive"));
  const Json corrected = correct(0);
  EXPECT_EQ(corrected["before"]["verdict"], "violations");
  EXPECT_EQ(corrected["verdict"], "clean");
  EXPECT_EQ(corrected["coverage"]["share"], 1.0);
  EXPECT_THAT(verdict_of(text_), StartsWith("Clean: in the archive as written none of 1 edge"));
  EXPECT_EQ(correct(1, {"--presync", "none", "--amortize", "off"})["verdict"], "violations");
}

TEST_F(Verdict, without_edges_is_unproven_and_says_what_would_help) {
  for (std::uint64_t k = 0; k < 50; ++k) alltoallv(1000 + 100 * k);
  const Json json = check(3);
  EXPECT_EQ(json["verdict"], "unproven");
  EXPECT_EQ(json["verdict_reason"], "no_edges");
  EXPECT_EQ(json["coverage"]["alltoallv_skipped"], 100);
  EXPECT_EQ(json["coverage"]["share"], 0.0);
  EXPECT_EQ(verdict_of(text_),
            "Unproven: nothing could be checked: 100 recorded collective calls yield no edge.");
  EXPECT_THAT(text_, HasSubstr("100 calls of Alltoallv or Alltoallw"));
  EXPECT_THAT(text_, HasSubstr("--alltoallv dense"));
  check(3, {"--min-coverage", "0"});
  EXPECT_EQ(correct(3)["verdict"], "unproven");  // the archive is written all the same
  EXPECT_EQ(check(0, {"--alltoallv", "dense"})["verdict"], "clean");
}

TEST_F(Verdict, depends_on_the_least_coverage) {
  message(1000, 2000);
  for (std::uint64_t k = 0; k < 3; ++k) archive_.at(1).recv(3000 + k, 0, world_, 8);
  const Json json = check(3);
  EXPECT_EQ(json["verdict_reason"], "low_coverage");
  EXPECT_EQ(json["coverage"]["lost"], 3);
  EXPECT_THAT(verdict_of(text_),
              HasSubstr("only 25.00 % of the recorded receives could be checked, "
                        "less than 50 %"));
  EXPECT_THAT(text_, HasSubstr("3 receives (lost 3)"));
  EXPECT_EQ(check(0, {"--min-coverage", "25%"})["min_coverage_share"], 0.25);
  check(3, {"--min-coverage", "25.1"});
  expect_refusal(run_tool({"check", (scratch_ / "in").string(), "--min-coverage", "101"}),
                 "is not a number of percent from 0 to 100");
}

TEST_F(Verdict, of_a_trace_without_communication_is_that_there_is_nothing_to_violate) {
  for (std::uint64_t l = 0; l < 2; ++l) archive_.at(l).enter(10, work_).leave(20, work_);
  const Json json = check(0);
  EXPECT_EQ(json["verdict"], "clean");
  EXPECT_TRUE(json["coverage"]["share"].is_null());
  EXPECT_THAT(verdict_of(text_), HasSubstr("records no communication between locations"));
}

TEST_F(Verdict, knows_neighbourhood_collectives_by_their_regions) {
  const auto region = archive_.region("MPI_Neighbor_allgather");
  message(10, 20);
  for (std::uint64_t l = 0; l < 2; ++l) archive_.at(l).enter(30, region).leave(40, region);
  const Json json = check(3);
  EXPECT_EQ(json["coverage"]["neighbourhood_skipped"], 2);
  EXPECT_EQ(json["coverage"]["collective_calls"], 2);
  EXPECT_THAT(text_, HasSubstr("2 calls of neighbourhood collectives"));
  EXPECT_THAT(text_, HasSubstr("entrain record"));
}

TEST_F(Verdict, of_edges_that_no_clocks_can_meet_is_unproven) {
  for (std::uint64_t l = 0; l < 2; ++l) {  // each receives first what the other sends later
    const auto other = static_cast<std::uint32_t>(1 - l);
    archive_.at(l).recv(1000, other, world_, 7).enter(1010, work_).leave(1020, work_);
    archive_.at(l).send(2000, other, world_, 7);
  }
  EXPECT_EQ(check(3)["verdict_reason"], "contradictory_edges");
  EXPECT_THAT(verdict_of(text_), HasSubstr("2 edges lie in cycles that no clocks can meet"));
  EXPECT_EQ(correct(3)["verdict_reason"], "contradictory_edges");
  EXPECT_THAT(verdict_of(text_), HasSubstr("2 edges lie in cycles that no clocks can meet"));
}

TEST_F(Verdict, repeats_what_the_archive_says_of_its_completeness) {
  archive_.property("OTF2::MPI_COMMUNICATION_COMPLETE", "false");
  message(1000, 2000);
  const Json json = check(0);
  EXPECT_EQ(json["completeness"]["mpi_communication"], false);
  EXPECT_THAT(text_, HasSubstr("not all MPI communication, says the archive"));
  EXPECT_THAT(verdict_of(text_),
              HasSubstr("the archive says that its MPI communication is not complete"));
  correct(0);
  EXPECT_THAT(verdict_of(text_), HasSubstr("is not complete"));
  const std::string input = (scratch_ / "in").string();
  EXPECT_THAT(run_tool({"info", input}).out, HasSubstr("not all MPI communication"));
  EXPECT_EQ(json_of(run_tool({"info", "--json", input}))["completeness"]["incomplete"][0],
            "OTF2::MPI_COMMUNICATION_COMPLETE");
}

TEST_F(Verdict, is_not_given_on_an_archive_that_nobody_read_back) {
  message(1000, 900);
  const Json json = correct(0, {"--no-verify"});
  EXPECT_TRUE(json["verdict"].is_null());
  EXPECT_TRUE(json["coverage"].is_null());
  EXPECT_THAT(verdict_of(text_), StartsWith("No verdict: the new archive was not read back"));
  EXPECT_THAT(text_, Not(HasSubstr("Clean")));
}

TEST_F(Verdict, calls_short_messages_violations_if_they_must_be_long) {
  message(1000, 1500);
  EXPECT_EQ(check(0, {"--mu", "1e-6"})["verdict"], "clean");
  EXPECT_EQ(check(1, {"--mu", "1e-6", "--strict-latency"})["verdict"], "violations");
  EXPECT_THAT(verdict_of(text_), StartsWith("Violations: 1 of 1 edge is closer than the minimum"));
}

}  // namespace
}  // namespace entrain::test
