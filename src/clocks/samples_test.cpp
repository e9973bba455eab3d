// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/samples.hpp"

#include <filesystem>
#include <fstream>
#include <numeric>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/testing.hpp"

namespace entrain::clocks {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using trace::testing::TraceBuilder;

const std::string k_sample_head =
    "session,rank,parent,local_ticks,parent_ticks,master_ticks,round_trip_ticks,kept\n";

/// Two sessions of rank 1 with two exchanges each; the master is 500 ahead, then 510.
const std::string k_rank_1 =
    "0,1,0,1000,1500,1500,40,1\n"
    "0,1,0,1100,1601,1601,60,0\n"
    "1,1,0,9000,9510,9510,30,1\n"
    "1,1,0,9100,9611,9611,50,1\n";

class ClockSamples : public ::testing::Test {
 protected:
  ClockSamples() { std::filesystem::create_directories(folder_); }
  ~ClockSamples() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& text) const {
    std::ofstream(folder_ / k_clock_samples, std::ios::binary) << text;
  }
  [[nodiscard]] auto read(const TraceBuilder& b) const {
    std::vector<LocationIndex> all(b.trace().locations.size());
    std::iota(all.begin(), all.end(), LocationIndex{0});
    return read_clock_samples(folder_, b.trace(), all);
  }

  std::filesystem::path folder_ = std::filesystem::path(::testing::TempDir()) /
                                  (std::string("clock_samples_") +
                                   ::testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(ClockSamples, are_found_by_the_records_of_a_location) {
  write(k_sample_head + k_rank_1);
  TraceBuilder b(3);
  b.trace().locations[2].clock_offsets = {{1'000, 500, 20}, {9'000, 510, 15}};
  const auto found = read(b);
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_THAT(*found, SizeIs(1));
  const LocationSamples& sessions = found->at(2);
  ASSERT_THAT(sessions, SizeIs(2));
  ASSERT_THAT(sessions[0], SizeIs(2));
  EXPECT_EQ(sessions[0][1].local, 1'100u);
  EXPECT_EQ(sessions[0][1].offset, 501);
  EXPECT_EQ(sessions[0][1].round_trip, 60u);
  EXPECT_FALSE(sessions[0][1].kept);
  EXPECT_EQ(sessions[1][0].offset, 510);
}

TEST_F(ClockSamples, a_single_session_is_found) {
  write(k_sample_head + k_rank_1);
  TraceBuilder b(1);
  b.trace().locations[0].clock_offsets = {{1'000, 500, 20}};
  const auto found = read(b);
  ASSERT_TRUE(found);
  ASSERT_THAT(found->at(0), SizeIs(1));
  EXPECT_THAT(found->at(0)[0], SizeIs(2));
}

TEST_F(ClockSamples, records_that_are_no_exchanges_or_share_a_session_find_none) {
  write(k_sample_head + k_rank_1);
  TraceBuilder b(3);
  b.trace().locations[0].clock_offsets = {{1'000, 500, 20}, {9'000, 999, 15}};
  b.trace().locations[1].clock_offsets = {{1'000, 500, 20}, {1'100, 501, 15}};
  b.trace().locations[2].clock_offsets = {{1'000, 501, 20}};
  const auto found = read(b);
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, IsEmpty());
}

TEST_F(ClockSamples, are_none_without_a_file_or_without_rows) {
  TraceBuilder b(1);
  b.trace().locations[0].clock_offsets = {{1'000, 500, 20}, {9'000, 510, 15}};
  EXPECT_THAT(*read(b), IsEmpty());
  write(k_sample_head);
  EXPECT_THAT(*read(b), IsEmpty());
}

TEST_F(ClockSamples, are_not_absent_where_the_system_cannot_say) {
  std::filesystem::create_symlink(k_clock_samples, folder_ / k_clock_samples);  // leads to itself
  const auto refused = read(TraceBuilder(1));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr(k_clock_samples));
}

TEST_F(ClockSamples, a_damaged_row_is_refused_with_its_line) {
  for (const char* row : {"0,1,0,1000,1500,1500,40\n", "0,1,0,1000,1500,1500,40,2\n",
                          "0,1,0,x,1500,1500,40,1\n", "0,1,0,0,0,9223372036854775807,40,1\n"}) {
    write(k_sample_head + k_rank_1 + row);
    const auto refused = read(TraceBuilder(1));
    ASSERT_FALSE(refused) << row;
    EXPECT_THAT(refused.error().message, HasSubstr("line 6: this is no exchange")) << row;
  }
}

}  // namespace
}  // namespace entrain::clocks
