// SPDX-License-Identifier: BSD-3-Clause
#include "trace/recorded_clock.hpp"

#include <cstdint>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace entrain::trace {
namespace {

constexpr std::uint64_t k_second = 1'000'000'000;

LocationSkeleton with(std::vector<ClockOffset> records) {
  LocationSkeleton location;
  location.clock_offsets = std::move(records);
  return location;
}

Definitions definitions(std::vector<Property> properties = {}) {
  Definitions result;
  result.clock.resolution_hz = k_second;
  result.properties = std::move(properties);
  return result;
}

TEST(RecordedClock, the_example_of_the_header) {
  const LocationSkeleton location = with({{0, 50, 2'000}, {10 * k_second, 60, 2'000}});
  const RecordedClock clock(location, definitions());
  EXPECT_EQ(clock.time(5 * k_second), 5 * k_second + 55);
  EXPECT_EQ(clock.doubt(k_second), 500'000u + 2'000u + 100'000u);
  EXPECT_EQ(clock.doubt(9 * k_second), clock.doubt(k_second));
  EXPECT_EQ(clock.doubt(11 * k_second), clock.doubt(k_second));
  EXPECT_EQ(clock.doubt(0), 102'000u);
}

TEST(RecordedClock, fewer_than_two_records_tell_nothing) {
  for (const auto& location : {with({}), with({{100, 50, 1}})}) {
    const RecordedClock clock(location, definitions());
    EXPECT_EQ(clock.time(1'234), 1'234u);
    EXPECT_EQ(clock.doubt(1'234), RecordedClock::k_unknown);
  }
}

TEST(RecordedClock, records_that_contradict_themselves_tell_nothing) {
  for (const auto& location :
       {with({{200, 0, 0}, {100, 0, 0}}), with({{100, 0, 0}, {200, -1'000, 0}})}) {
    const RecordedClock clock(location, definitions());
    EXPECT_EQ(clock.time(150), 150u);
    EXPECT_EQ(clock.doubt(150), RecordedClock::k_unknown);
  }
  const LocationSkeleton no_number = with({{100, 0, -1}, {200, 0, 1e30}});
  EXPECT_EQ(RecordedClock(no_number, definitions()).doubt(100), RecordedClock::k_unknown);
  EXPECT_EQ(RecordedClock(no_number, definitions()).doubt(200), RecordedClock::k_unknown);
}

TEST(RecordedClock, far_from_all_records_nothing_is_known) {
  const LocationSkeleton location = with({{0, 0, 0}, {1, 0, 0}});
  EXPECT_EQ(RecordedClock(location, definitions()).doubt(~std::uint64_t{0}),
            RecordedClock::k_unknown);
}

TEST(RecordedClock, records_of_a_corrected_archive_are_no_measurements) {
  const LocationSkeleton location = with({{0, 50, 2'000}, {10 * k_second, 60, 2'000}});
  const Property corrected{k_property_correction, "mode=overlay"};
  const RecordedClock unknown(location, definitions({corrected}));
  EXPECT_EQ(unknown.time(5 * k_second), 5 * k_second + 55);
  EXPECT_EQ(unknown.doubt(5 * k_second), RecordedClock::k_unknown);
  const Property span{k_property_session_span, "50 4000000055"};
  for (const auto& one : {location, with({})}) {  // an overlay, and rewritten
    const RecordedClock known(one, definitions({corrected, span}));
    EXPECT_NEAR(known.doubt(5 * k_second), 600'000, 1);
    EXPECT_NEAR(known.doubt(3 * k_second), 600'000, 1);
  }
}

}  // namespace
}  // namespace entrain::trace
