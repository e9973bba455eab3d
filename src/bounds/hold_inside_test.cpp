// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "bounds/bounds_testing.hpp"
#include "bounds/hold_inside.hpp"
#include "constraints/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::bounds {
namespace {

using testing::known_error;
using trace::testing::TraceBuilder;

/// Two processes with events from 100,000 to 102,000; the second has two threads. One window, in
/// which the error of clock 1 is in [-20, 30]; nothing is known of clock 2, the second thread.
TraceBuilder locations_to_hold() {
  TraceBuilder b(2, 2);
  for (LocationIndex l = 0; l < 4; ++l) {
    if (l == 1) continue;
    b.request(trace::EventKind::irecv_request, l, 100'000, 1);
    b.request(trace::EventKind::irecv_request, l, 102'000, 2);
  }
  return b;
}
ProvenIntervals intervals_to_hold() {
  ProvenIntervals proven;
  proven.clock_of = {0, 1, 2, 3};
  proven.lines.resize(4);
  proven.quantum = {0, 0, 0, 0};
  proven.reference = 0;
  proven.begin = 100'000;
  proven.width = 2'001;
  proven.errors.resize(4);
  proven.errors[0] = known_error(0, 0);
  proven.errors[2] = known_error(-20, 30);
  return proven;
}
ClockMap shifted_by(std::int64_t ticks) {
  return *ClockMap::from_knots({{100'000, ticks}, {102'000, ticks}});
}

TEST(HoldMapsInside, moves_a_map_as_little_as_needed) {
  constraints::testing::WholeTrace whole(locations_to_hold().trace());
  std::vector<ClockMap> maps(4);
  maps[2] = shifted_by(1'000);
  const std::int64_t moved =
      hold_inside(whole.share(), trace::separate_domains(4), intervals_to_hold(), maps);
  // Allowed are times up to 20 after the stamp, give or take the rounding of stamps and knots.
  EXPECT_NEAR(static_cast<double>(moved), 1'000 - 20, 6);
  EXPECT_NEAR(static_cast<double>(maps[2](101'000)), 101'020, 6);
  EXPECT_EQ(maps[0], ClockMap());
}

TEST(HoldMapsInside, threads_without_intervals_move_with_their_process) {
  constraints::testing::WholeTrace whole(locations_to_hold().trace());
  std::vector<ClockMap> maps(4);
  maps[2] = maps[3] = shifted_by(1'000);
  hold_inside(whole.share(), trace::separate_domains(4), intervals_to_hold(), maps);
  EXPECT_EQ(maps[3](101'000), maps[2](101'000));
}

TEST(HoldMapsInside, maps_inside_stay_and_so_do_all_without_proof) {
  constraints::testing::WholeTrace whole(locations_to_hold().trace());
  std::vector<ClockMap> maps(4);
  maps[2] = shifted_by(5);
  const std::vector<ClockMap> before = maps;
  EXPECT_EQ(hold_inside(whole.share(), trace::separate_domains(4), intervals_to_hold(), maps), 0);
  EXPECT_EQ(maps, before);
  maps[2] = shifted_by(1'000);
  ProvenIntervals none;
  none.about.reason = "there are no events";
  EXPECT_EQ(hold_inside(whole.share(), trace::separate_domains(4), none, maps), 0);
  EXPECT_EQ(maps[2], shifted_by(1'000));
}

}  // namespace
}  // namespace entrain::bounds
