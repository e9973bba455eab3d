// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/measured_apart.hpp"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/team.hpp"
#include "base/temp_folder_testing.hpp"
#include "trace/properties.hpp"
#include "trace/testing.hpp"

namespace entrain::clocks {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using trace::testing::TraceBuilder;

const std::string k_processes_head =
    "rank,host,timer,ticks_per_second,begin_ticks,end_ticks,clock_of\n";
const std::string k_offsets_head = "session,rank,local_ticks,offset_ticks,half_width_ticks\n";

const std::string k_two = k_processes_head +
                          "0,a,timer,1000000,900,9000,0\n"
                          "1,b,timer,1000100,1900,9900,1\n";
const std::string k_records = k_offsets_head +
                              "0,0,1000,0,0\n"
                              "1,0,8000,0,0\n"
                              "0,1,2000,-1000,20\n"
                              "1,1,9000,-1010,30\n";

class MeasuredApart : public ::testing::Test {
 protected:
  MeasuredApart() : trace_(2, 2) {
    for (trace::LocationSkeleton& location : trace_.trace().locations) {
      location.event_count = 2;
      location.first = 1'500;
      location.last = 8'500;
      location.clock_offsets = {{1, 7, 0}, {2, 7, 0}};
    }
  }
  void write(const std::string& processes, const std::string& offsets) const {
    std::ofstream(folder_ / k_clock_processes) << processes;
    std::ofstream(folder_ / k_clock_offsets) << offsets;
  }
  Result<void> use(ClockRecords records = ClockRecords::replace) {
    Solo solo;
    const trace::Partition whole = trace::undivided(trace_.trace().definitions);
    return use_measurements(folder_.path(), records, solo, whole, trace_.trace());
  }
  void expect_refused(const std::string& why) {
    const auto result = use();
    ASSERT_FALSE(result) << why;
    EXPECT_EQ(result.error().kind, ErrorKind::input);
    EXPECT_THAT(result.error().message, HasSubstr(why));
  }

  TempFolder folder_;
  TraceBuilder trace_;
};

TEST_F(MeasuredApart, the_records_of_a_rank_are_those_of_all_its_locations) {
  write(k_two, k_records);
  ASSERT_TRUE(use());
  const auto& locations = trace_.trace().locations;
  for (const LocationIndex l : {2u, 3u}) {
    ASSERT_THAT(locations[l].clock_offsets, SizeIs(2));
    EXPECT_EQ(locations[l].clock_offsets[1].time, 9'000u);
    EXPECT_EQ(locations[l].clock_offsets[1].offset, -1'010);
    EXPECT_EQ(locations[l].clock_offsets[1].stddev, 30);
  }
  EXPECT_EQ(locations[1].clock_offsets[0].time, 1'000u);
  EXPECT_EQ(trace::find_property(trace_.trace().definitions, trace::k_property_clocks), nullptr);
}

TEST_F(MeasuredApart, ranks_go_by_the_largest_communicator) {
  write(k_two, k_records);
  std::swap(trace_.trace().definitions.comms[0].group_a[0],
            trace_.trace().definitions.comms[0].group_a[1]);
  ASSERT_TRUE(use());
  EXPECT_EQ(trace_.trace().locations[0].clock_offsets[0].time, 2'000u);
}

TEST_F(MeasuredApart, a_clock_of_all_needs_no_records_and_is_a_proof) {
  write(k_processes_head + "0,a,timer,1000000,900,9000,0\n1,a,timer,1000000,900,9900,0\n",
        k_offsets_head);
  trace_.trace().definitions.properties = {{trace::k_property_clocks, "1-2"}};
  ASSERT_TRUE(use());
  EXPECT_THAT(trace_.trace().locations[2].clock_offsets, IsEmpty());
  EXPECT_EQ(*trace::find_property(trace_.trace().definitions, trace::k_property_clocks), "0,1");
}

TEST_F(MeasuredApart, records_that_stay_count_as_exactly_as_they_agree) {
  write(k_two, k_records);
  auto& locations = trace_.trace().locations;
  for (trace::LocationSkeleton& location : locations) location.clock_offsets.clear();
  locations[0].clock_offsets = {{1'500, 0, 0}, {8'000, 0, 0}};
  // The line goes from -1000 +- 20 at 2000 to -1010 +- 30 at 9000: at 5500 it is -1005 +- 25.
  locations[2].clock_offsets = {{2'000, -999, 0}, {5'500, -1'035, 0}, {9'900, -1'012, 0}};
  ASSERT_TRUE(use(ClockRecords::add));
  const auto& all = locations[2].clock_offsets;
  ASSERT_THAT(all, SizeIs(4));
  EXPECT_EQ(all[0].offset, -1'000);  // the measurement, not the record of the same time
  EXPECT_EQ(all[0].stddev, 20);
  EXPECT_EQ(all[1].offset, -1'035);
  EXPECT_EQ(all[1].stddev, 55);
  EXPECT_EQ(all[2].stddev, 30);
  EXPECT_EQ(all[3].time, 9'900u);
  EXPECT_EQ(all[3].stddev, 55);
  // The reference stays exact.
  ASSERT_THAT(locations[0].clock_offsets, SizeIs(3));
  for (const auto& record : locations[0].clock_offsets) EXPECT_EQ(record.stddev, 0);
}

TEST_F(MeasuredApart, records_of_another_reference_are_not_added) {
  write(k_two, k_records);
  const auto result = use(ClockRecords::add);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("do not refer to rank 0"));
}

TEST_F(MeasuredApart, what_does_not_fit_is_refused_in_a_sentence) {
  expect_refused("holds no clock measurements");
  write(k_processes_head + "0,a,timer,1000000,900,9000,0\n", k_offsets_head);
  expect_refused("the archive has 2 ranks of MPI, and 1 were measured");
  write(k_processes_head + "0,a,TSC,2300000000,900,9000,0\n1,b,TSC,2300000000,1,9,1\n", k_records);
  expect_refused("has 1000000 ticks per second, and TSC, which was measured, has 2300000000");
  write(k_processes_head + "0,a,t,1000000,900,9000,0\n1,b,t,1000000,9000000,9900000,1\n",
        k_records);
  expect_refused("another run, or another timer");
  write(k_two, k_offsets_head);
  expect_refused("1 of 2 clocks were not measured");
  write(k_two, k_records);
  trace_.trace().definitions.properties = {{trace::k_property_correction, "x"}};
  expect_refused("was corrected already");
}

TEST_F(MeasuredApart, damaged_tables_are_refused_with_the_line) {
  write(k_processes_head + "1,b,timer,1000000,900,9000,1\n", k_records);
  expect_refused("line 2: the processes are not in the order");
  write(k_processes_head + "0,a,timer,0,900,9000,0\n", k_records);
  expect_refused("line 2: this is no process");
  write(k_two, k_offsets_head + "0,2,1000,0,0\n");
  expect_refused("line 2: this is no clock record");
  write(k_two, k_offsets_head + "0,1,1000,0,0\n1,1,1000,0,0\n");
  expect_refused("line 3: the records of a process are not in order");
}

}  // namespace
}  // namespace entrain::clocks
