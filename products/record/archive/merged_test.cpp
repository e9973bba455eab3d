// SPDX-License-Identifier: BSD-3-Clause
#include "record/archive/merged.hpp"

#include <gmock/gmock.h>

namespace entrain::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

ProcessRecord process(std::uint32_t rank) {
  ProcessRecord record;
  record.rank = rank;
  record.size = 2;
  record.host = "node";
  record.comms[0] = {"world:0", "MPI_COMM_WORLD", 'x', rank == 0 ? "0-1" : "", "", std::nullopt};
  record.comms[1] = {"self", "MPI_COMM_SELF", 's', "", "", std::nullopt};
  return record;
}

TEST(Merged, numbers_of_processes_become_global_ones) {
  std::vector<ProcessRecord> processes{process(0), process(1)};
  processes[0].regions = {{5, {"MPI_Send", 'm'}}, {900, {"solve", 'u'}}};
  processes[1].regions = {{7, {"MPI_Recv", 'm'}}, {900, {"MPI_Send", 'u'}}, {901, {"solve", 'u'}}};
  const Merged merged(std::move(processes));
  ASSERT_EQ(merged.regions().size(), 4u);  // a user region may have the name of a call
  EXPECT_THAT(merged.local_plan(0).regions, ElementsAre(Pair(5, 0), Pair(900, 1)));
  EXPECT_THAT(merged.local_plan(1).regions, ElementsAre(Pair(7, 2), Pair(900, 3), Pair(901, 1)));
  EXPECT_THAT(merged.local_plan(1).comms, ElementsAre(Pair(0, 0), Pair(1, 1)));
  EXPECT_EQ(merged.comms()[0].group_a, "0-1");  // only one member knows it
}

TEST(Merged, parents_come_before_their_children) {
  std::vector<ProcessRecord> processes{process(0), process(1)};
  // Rank 0 knows of the inter-communicator, rank 1 also of the bridge through which it was made.
  processes[0].comms[2] = {"inter", "", 'i', "0", "1", std::nullopt};
  processes[1].comms[2] = {"bridge", "", 'x', "0-1", "", 0};
  processes[1].comms[3] = {"inter", "", 'i', "", "", 2};
  const Merged merged(std::move(processes));
  ASSERT_EQ(merged.comms().size(), 4u);
  for (std::uint32_t number = 0; number < merged.comms().size(); ++number) {
    if (merged.comms()[number].parent) {
      EXPECT_LT(*merged.comms()[number].parent, number);
    }
  }
  const std::uint32_t inter = merged.local_plan(0).comms.at(2);
  EXPECT_EQ(inter, merged.local_plan(1).comms.at(3));
  EXPECT_EQ(merged.comms()[inter].parent, merged.local_plan(1).comms.at(2));
  EXPECT_EQ(merged.comms()[inter].group_b, "1");
}

TEST(Merged, lists_of_partners_are_strings_that_all_processes_share) {
  std::vector<ProcessRecord> processes{process(0), process(1)};
  processes[0].partners = {{0, "to 1 from 1"}, {1, "to from"}};
  processes[1].partners = {{0, "to from"}, {1, "to 0 from 0"}};
  const Merged merged(std::move(processes));
  EXPECT_THAT(merged.partners(), ElementsAre("to 1 from 1", "to from", "to 0 from 0"));
  EXPECT_THAT(merged.local_plan(0).strings, ElementsAre(Pair(0, 1), Pair(1, 2)));
  const LocalPlan plan = parse_plan(to_text(merged.local_plan(1)));
  EXPECT_THAT(plan.strings, ElementsAre(Pair(0, 2), Pair(1, 3)));
}

TEST(Merged, broken_journals_may_make_a_circle_of_parents) {
  std::vector<ProcessRecord> processes{process(0)};
  processes[0].comms[2] = {"a", "", 'x', "0", "", 3};
  processes[0].comms[3] = {"b", "", 'x', "0", "", 2};
  EXPECT_EQ(Merged(std::move(processes)).comms().size(), 4u);
}

TEST(Merged, windows_and_groups_are_shared) {
  std::vector<ProcessRecord> processes{process(0), process(1)};
  processes[0].windows[0] = {"world:0/window0", "", 0};
  processes[1].windows[4] = {"world:0/window0", "board", 0};
  processes[1].windows[5] = {"lost", "", 99};  // its communicator is not there
  processes[0].groups[0] = "1";
  processes[1].groups[3] = "1";
  const Merged merged(std::move(processes));
  ASSERT_EQ(merged.windows().size(), 1u);
  EXPECT_EQ(merged.windows()[0].name, "board");
  EXPECT_THAT(merged.local_plan(1).windows, ElementsAre(Pair(4, 0)));
  EXPECT_EQ(merged.local_plan(0).groups.at(0), merged.local_plan(1).groups.at(3));
  EXPECT_EQ(merged.group_number("0-1"), Merged::k_first_group);
}

TEST(Merged, the_range_is_in_the_time_of_the_master) {
  std::vector<ProcessRecord> processes{process(0), process(1)};
  processes[0].locations[0] = {"Master thread", 3, 1000, 2000, 1000, 2000};
  processes[0].locations[9] = {"idle", 0, 1, 99'999, 1, 99'999};
  processes[1].locations[1] = {"Master thread", 3, 1500, 2500, 1400, 2400};
  processes[1].measured = true;
  processes[1].samples = {{0, 1500, 1400, 10, true}, {1, 2500, 2400, 10, true}};
  const Merged merged(std::move(processes));
  EXPECT_EQ(merged.range(false).first, 1000u);
  EXPECT_EQ(merged.range(false).last, 2400u);
  EXPECT_EQ(merged.range(true).last, 2400u);
  const Merged empty(std::vector<ProcessRecord>{process(0)});
  EXPECT_EQ(empty.range(false).first, 0u);
  EXPECT_EQ(empty.range(false).last, 0u);
  EXPECT_THAT(empty.local_plan(0).points, IsEmpty());
}

TEST(LocalPlan, comes_back_from_its_text) {
  LocalPlan plan;
  plan.regions = {{0, 5}, {900, 1}};
  plan.comms = {{1, 2}};
  plan.windows = {{3, 4}};
  plan.groups = {{0, 2}};
  plan.points = {{1, 18'000'000'000'000'000'000U, -5'000'000'000, 7}};
  const LocalPlan back = parse_plan(to_text(plan));
  EXPECT_EQ(back.regions, plan.regions);
  EXPECT_EQ(back.comms, plan.comms);
  EXPECT_EQ(back.windows, plan.windows);
  EXPECT_EQ(back.groups, plan.groups);
  ASSERT_EQ(back.points.size(), 1u);
  EXPECT_EQ(back.points[0].session, 1u);
  EXPECT_EQ(back.points[0].local, plan.points[0].local);
  EXPECT_EQ(back.points[0].offset, plan.points[0].offset);
  EXPECT_EQ(back.points[0].half_width, 7u);
  EXPECT_TRUE(parse_plan("").regions.empty());
}

}  // namespace
}  // namespace entrain::record
