// SPDX-License-Identifier: BSD-3-Clause
#include "formats/otf2/moved_times.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/corrected_testing.hpp"
#include "trace/properties.hpp"

namespace entrain::otf2 {
namespace {

using ::testing::ElementsAre;
using trace::EventKind;
using trace::testing::Corrected;
using trace::testing::shifted;
using trace::testing::TraceBuilder;
using trace::testing::two_locations;

CorrectedTimes times_of(Corrected& c) {
  return {.share = c.share(), .measured = c.measured, .corrected = c.corrected};
}

TEST(MovedTimes, a_time_moves_as_far_as_its_stamp) {
  EXPECT_EQ(moved(shifted(100), shifted(130), 500), 530);
  EXPECT_EQ(moved(shifted(100), shifted(70), 500), 470);
  EXPECT_EQ(moved(shifted(100), shifted(100), 500), 500);
  // 50 is before the first stamp, which is seen at 100.
  EXPECT_EQ(moved(shifted(100), shifted(130), 50), 80);
}

TEST(MovedTimes, a_time_between_two_stamps_moves_with_the_later_one) {
  // A stamp is worth two ticks: 0 -> 0, 1 -> 2. No stamp is seen at 3; the next one, 2, is at 4.
  const ClockMap measured = ClockMap::from_knots({{0, 0}, {100, 100}}).value();
  const ClockMap corrected = ClockMap::from_knots({{0, 0}, {100, 200}}).value();
  ASSERT_EQ(measured(2), 4);
  EXPECT_EQ(moved(measured, corrected, 3), 3 + corrected(2) - measured(2));
}

TEST(MovedTimes, times_beyond_the_latest_one_stand_for_it) {
  EXPECT_EQ(moved(shifted(0), shifted(0), ~std::uint64_t{0}),
            static_cast<std::int64_t>(k_last_time));
}

TEST(MovedTimes, markers_move_with_their_location_or_the_first_one) {
  Corrected c(two_locations());
  c.corrected[1] = shifted(90);
  const std::vector<MarkerTime> markers{{0, 1000}, {1, 1000}, {k_none, 1000}, {7, 1000}};
  EXPECT_THAT(move_markers(times_of(c), markers), ElementsAre(1030, 990, 1030, 1000));
  EXPECT_TRUE(move_markers(times_of(c), {}).empty());
}

TEST(MovedTimes, a_known_session_span_moves_like_the_locations) {
  TraceBuilder b = two_locations();
  b.trace().definitions.properties.push_back({trace::k_property_session_span, "1000 3000"});
  Corrected c(b);
  c.corrected[1] = shifted(150);
  const auto span = corrected_session_span(times_of(c));
  ASSERT_TRUE(span);
  EXPECT_EQ(span->begin, 1050);  // the latest
  EXPECT_EQ(span->end, 3030);    // the earliest
}

TEST(MovedTimes, without_records_and_property_there_is_no_session_span) {
  Corrected c(two_locations());
  EXPECT_FALSE(corrected_session_span(times_of(c)));
  c.trace.definitions.properties.push_back({trace::k_property_session_span, "no numbers"});
  EXPECT_FALSE(corrected_session_span(times_of(c)));
}

TEST(MovedTimes, every_member_of_a_team_knows_all_markers) {
  const Corrected c(two_locations());
  const trace::Partition partition{{0, 1}};
  const std::vector<MarkerTime> markers{{0, 1000}, {1, 2000}};
  const auto done = run_team(2, [&](Team& team) -> Result<void> {
    const CorrectedTimes times{
        .share = {team, partition, c.trace}, .measured = c.measured, .corrected = c.corrected};
    EXPECT_THAT(move_markers(times, markers), ElementsAre(1030, 2030));
    return {};
  });
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace entrain::otf2
