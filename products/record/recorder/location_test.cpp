// SPDX-License-Identifier: BSD-3-Clause
#include "record/recorder/location.hpp"

#include <gmock/gmock.h>

namespace entrain::record {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// The times that a location without a writer would write.
std::vector<std::uint64_t> written;
OTF2_ErrorCode answer = OTF2_SUCCESS;

OTF2_ErrorCode write(OTF2_EvtWriter*, OTF2_AttributeList*, OTF2_TimeStamp time, int) {
  written.push_back(time);
  return answer;
}

class Locations : public testing::Test {
 protected:
  void SetUp() override {
    written.clear();
    answer = OTF2_SUCCESS;
  }
  void put(std::uint64_t time) { location_.put(write, Stamp{time, time}, 0); }

  Location location_{3, nullptr, nullptr};
};

TEST_F(Locations, first_and_last_time_are_kept) {
  put(10);
  put(12);
  EXPECT_THAT(written, ElementsAre(10, 12));
  EXPECT_EQ(location_.first().local, 10u);
  EXPECT_EQ(location_.last().local, 12u);
}

TEST_F(Locations, what_is_held_back_follows_an_earlier_record) {
  location_.hold();
  put(20);
  put(21);
  EXPECT_THAT(written, IsEmpty());
  location_.release([&] { put(15); });
  EXPECT_THAT(written, ElementsAre(15, 20, 21));
  put(30);
  EXPECT_EQ(written.back(), 30u);
}

TEST_F(Locations, nothing_follows_a_failure) {
  answer = OTF2_ERROR_ENOSPC;
  put(10);
  answer = OTF2_SUCCESS;
  put(11);
  EXPECT_THAT(written, ElementsAre(10));
  EXPECT_TRUE(location_.broken());
}

TEST_F(Locations, nothing_follows_its_close) {
  location_.close();
  put(10);
  EXPECT_THAT(written, IsEmpty());
}

}  // namespace
}  // namespace entrain::record
