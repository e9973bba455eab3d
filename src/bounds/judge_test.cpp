// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "bounds/judge.hpp"
#include "constraints/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::bounds {
namespace {

using trace::testing::TraceBuilder;

/// Two clocks with events from 0 to 1999; the error of clock 1 is in [-5, 8] in the first of two
/// windows, and unknown in the second.
TraceBuilder two_locations() {
  TraceBuilder b(2);
  for (const LocationIndex l : {0u, 1u}) {
    b.request(trace::EventKind::irecv_request, l, 0, 1);
    b.request(trace::EventKind::irecv_request, l, 1'999, 2);
  }
  return b;
}
ProvenIntervals intervals() {
  ProvenIntervals proven;
  proven.clock_of = {0, 1};
  proven.lines.resize(2);
  proven.quantum = {0, 0};
  proven.reference = 0;
  proven.width = 1'000;
  proven.windows = 2;
  constexpr std::int64_t k_free = ErrorIntervals::k_unbounded;
  proven.intervals = {.clocks = 2, .lower = {0, -5, 0, -k_free}, .upper = {0, 8, 0, k_free}};
  return proven;
}

TEST(JudgeMaps, counts_windows_and_those_without_a_bound) {
  constraints::testing::WholeTrace whole(two_locations().trace());
  const ClockBounds bounds = judge(whole.share(), intervals(), std::vector<ClockMap>(2), true);
  ASSERT_EQ(bounds.locations.size(), 2u);
  EXPECT_EQ(bounds.locations[0].unbounded, 0u);
  EXPECT_EQ(bounds.locations[0].worst_ticks, 0) << "the reference is right";
  EXPECT_EQ(bounds.locations[1].windows, 2u);
  EXPECT_EQ(bounds.locations[1].unbounded, 1u);
  EXPECT_EQ(bounds.locations[1].outside_ticks, 0);
  // 8, and up to 4 for the rounding of two maps and two lines.
  EXPECT_GE(bounds.locations[1].worst_ticks, 8);
  EXPECT_LE(bounds.locations[1].worst_ticks, 12);
  ASSERT_EQ(bounds.rows.size(), 4u);
  EXPECT_TRUE(bounds.rows[2].bounded);
  EXPECT_FALSE(bounds.rows[3].bounded);
}

TEST(JudgeMaps, a_map_outside_of_its_interval_is_reported) {
  constraints::testing::WholeTrace whole(two_locations().trace());
  std::vector<ClockMap> maps(2);
  maps[1] = *ClockMap::from_knots({{0, 1'000}, {1'999, 1'000}});
  const ClockBounds bounds = judge(whole.share(), intervals(), maps, false);
  EXPECT_NEAR(static_cast<double>(bounds.locations[1].outside_ticks), 1'000 - 5, 4);
  EXPECT_NEAR(static_cast<double>(bounds.locations[1].worst_ticks), 1'000 + 8, 4);
  EXPECT_TRUE(bounds.rows.empty()) << "nobody asked for them";
}

TEST(JudgeMaps, says_only_why_there_are_no_intervals) {
  constraints::testing::WholeTrace whole(two_locations().trace());
  ProvenIntervals none;
  none.about.reason = "there are no events";
  const ClockBounds bounds = judge(whole.share(), none, std::vector<ClockMap>(2), true);
  EXPECT_EQ(bounds.reason, "there are no events");
  EXPECT_TRUE(bounds.locations.empty());
}

}  // namespace
}  // namespace entrain::bounds
