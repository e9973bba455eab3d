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

const std::string k_training = (std::filesystem::path(ENTRAIN_EXAMPLES_DIR) / "training").string();

TEST(Stragglers, of_a_training_run_as_text_json_and_csv) {
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
  EXPECT_EQ(json["steps"].size(), 1u);

  const std::string csv = run_tool({"stragglers", k_training, "--csv"}).out;
  EXPECT_THAT(csv, StartsWith("time_ticks,time_s,operation,group,step,members,known,last,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 1 + json["collectives"].get<int>());
  expect_refusal(run_tool({"stragglers", k_training, "--csv", "--json"}), "exclude each other");
}

TEST(Stragglers, of_an_archive_do_not_depend_on_the_number_of_threads) {
  const ChildOutcome one = run_tool({"stragglers", example("lulesh-8"), "--csv", "--threads", "1"});
  EXPECT_EQ(one.exit_code, 0) << one.summary();
  EXPECT_THAT(one.out, HasSubstr("Allreduce,MPI_COMM_WORLD"));
  EXPECT_EQ(one.out, run_tool({"stragglers", example("lulesh-8"), "--csv", "--threads", "3"}).out);
}

TEST(Stragglers, are_not_proved_by_times_as_recorded) {
  const ChildOutcome raw = run_tool({"stragglers", k_training, "--presync", "none"});
  EXPECT_EQ(raw.exit_code, 3) << raw.summary();
  EXPECT_THAT(verdict_of(raw.out), HasSubstr("as the times are those as recorded"));
  const ChildOutcome alone = run_tool({"stragglers", k_training + "/rank0.json"});
  EXPECT_EQ(alone.exit_code, 3) << alone.summary();
  EXPECT_EQ(alone.out, "There is no collective of which all members are known.\n");
}

}  // namespace
}  // namespace entrain::test
