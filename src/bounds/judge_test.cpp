// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "bounds/bounds_testing.hpp"
#include "bounds/prove.hpp"
#include "constraints/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::bounds {
namespace {

using trace::testing::TraceBuilder;

/// Three clocks with events from 0 to 1999; the error of clock 1 is in [-5, 8], that of clock 2
/// unknown.
TraceBuilder locations_to_judge() {
  TraceBuilder b(3);
  for (const LocationIndex l : {0u, 1u, 2u}) {
    b.request(trace::EventKind::irecv_request, l, 0, 1);
    b.request(trace::EventKind::irecv_request, l, 1'999, 2);
  }
  return b;
}
ProvenIntervals intervals() {
  ProvenIntervals proven;
  proven.clock_of = {0, 1, 2};
  proven.lines.resize(3);
  proven.quantum = {0, 0, 0};
  proven.reference = 0;
  proven.width = 1'000;
  proven.windows = 2;
  proven.errors = {testing::known_error(0, 0), testing::known_error(-5, 8), {}};
  return proven;
}

TEST(JudgeMaps, counts_windows_and_those_without_a_bound) {
  constraints::testing::WholeTrace whole(locations_to_judge().trace());
  const ClockBounds bounds = judge(whole.share(), intervals(), std::vector<ClockMap>(3), true);
  ASSERT_EQ(bounds.locations.size(), 3u);
  EXPECT_EQ(bounds.locations[0].unbounded, 0u);
  EXPECT_EQ(bounds.locations[0].worst_ticks, 0) << "the reference is right";
  EXPECT_EQ(bounds.locations[1].windows, 2u);
  EXPECT_EQ(bounds.locations[1].unbounded, 0u);
  EXPECT_EQ(bounds.locations[2].windows, 2u);
  EXPECT_EQ(bounds.locations[2].unbounded, 2u);
  EXPECT_EQ(bounds.locations[1].outside_ticks, 0);
  // 8, and up to 5 for the rounding of two maps and two lines.
  EXPECT_GE(bounds.locations[1].worst_ticks, 8);
  EXPECT_LE(bounds.locations[1].worst_ticks, 13);
  ASSERT_EQ(bounds.rows.size(), 6u);
  EXPECT_TRUE(bounds.rows[2].bounded);
  EXPECT_FALSE(bounds.rows[5].bounded);
}

TEST(JudgeMaps, a_map_outside_of_its_interval_is_reported) {
  constraints::testing::WholeTrace whole(locations_to_judge().trace());
  std::vector<ClockMap> maps(3);
  maps[1] = *ClockMap::from_knots({{0, 1'000}, {1'999, 1'000}});
  const ClockBounds bounds = judge(whole.share(), intervals(), maps, false);
  EXPECT_NEAR(static_cast<double>(bounds.locations[1].outside_ticks), 1'000 - 5, 5);
  EXPECT_NEAR(static_cast<double>(bounds.locations[1].worst_ticks), 1'000 + 8, 5);
  EXPECT_TRUE(bounds.rows.empty()) << "nobody asked for them";
}

TEST(JudgeMaps, says_only_why_there_are_no_intervals) {
  constraints::testing::WholeTrace whole(locations_to_judge().trace());
  ProvenIntervals none;
  none.about.reason = "there are no events";
  const ClockBounds bounds = judge(whole.share(), none, std::vector<ClockMap>(3), true);
  EXPECT_EQ(bounds.reason, "there are no events");
  EXPECT_TRUE(bounds.locations.empty());
}

}  // namespace
}  // namespace entrain::bounds
