// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/tool.hpp"

namespace entrain::test {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Half of the ranks of a run.
const std::string k_half = (std::filesystem::path(ENTRAIN_EXAMPLES_DIR) / "training").string();

class Stragglers : public ::testing::Test {
 protected:
  Stragglers() {
    const ChildOutcome made = run_tool({"synth", "-o", k_training, "--format", "chrome",
                                        "--locations-per-node", "1", "--locations", "4", "--events",
                                        "6000", "--straggler", "2", "--straggler-s", "0.002"});
    EXPECT_EQ(made.exit_code, 0) << made.summary();
  }

  const TempFolder scratch_;
  const std::string k_training = (scratch_ / "run").string();
};

TEST_F(Stragglers, of_a_training_run_as_text_json_and_csv) {
  const ChildOutcome text = run_tool({"stragglers", k_training});
  EXPECT_EQ(text.exit_code, 0) << text.summary();
  EXPECT_THAT(text.out, StartsWith("rank 2 is last in "));
  const ChildOutcome brief = run_tool({"stragglers", k_training, "-q"});
  EXPECT_THAT(text.out, StartsWith(brief.out));

  const Json json = json_of(run_tool({"stragglers", k_training, "--json"}));
  EXPECT_EQ(json["schema"], "entrain.stragglers/1");
  EXPECT_EQ(json["verdict"], "stragglers");
  EXPECT_EQ(json["stragglers"], Json::array({"rank 2"}));
  EXPECT_EQ(json["ranks"][0]["rank"], "rank 2");
  EXPECT_EQ(json["ranks"].size(), 4u);
  EXPECT_GT(json["steps"].size(), 1u);

  const std::string csv = run_tool({"stragglers", k_training, "--csv"}).out;
  EXPECT_THAT(csv, StartsWith("time_ticks,time_s,operation,group,step,members,known,last,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + json["collectives"].get<int>());
  expect_refusal(run_tool({"stragglers", k_training, "--csv", "--json"}), "exclude each other");
}

TEST_F(Stragglers, of_an_archive_do_not_depend_on_the_number_of_threads) {
  const ChildOutcome one = run_tool({"stragglers", example("lulesh-8"), "--csv", "--threads", "1"});
  EXPECT_EQ(one.exit_code, 0) << one.summary();
  EXPECT_THAT(one.out, HasSubstr("Allreduce,MPI_COMM_WORLD"));
  EXPECT_EQ(one.out, run_tool({"stragglers", example("lulesh-8"), "--csv", "--threads", "3"}).out);
}

TEST_F(Stragglers, are_not_proved_by_times_as_recorded) {
  const ChildOutcome raw = run_tool({"stragglers", k_training, "--presync", "none"});
  EXPECT_EQ(raw.exit_code, 3) << raw.summary();
  EXPECT_THAT(verdict_of(raw.out), HasSubstr("as the times are those as recorded"));
  const ChildOutcome alone = run_tool({"stragglers", k_training + "/rank0.json"});
  EXPECT_EQ(alone.exit_code, 3) << alone.summary();
  EXPECT_THAT(alone.out, StartsWith("There is no collective in which members wait for others.\n"));
}

TEST_F(Stragglers, are_not_proved_where_ranks_of_the_run_are_missing) {
  const ChildOutcome half = run_tool({"stragglers", k_half});
  EXPECT_EQ(half.exit_code, 3) << half.summary();
  EXPECT_THAT(half.out, StartsWith("There is no collective of which all members are known; not "
                                   "known of all members: 8.\n"));
  EXPECT_THAT(half.out, HasSubstr("of 8 ranks of the run 4 are missing"));
}

}  // namespace
}  // namespace entrain::test
