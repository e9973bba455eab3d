// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/prove.hpp"

#include <gtest/gtest.h>

#include "bounds/bounds_testing.hpp"
#include "constraints/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::bounds {
namespace {

using testing::known_error;
using trace::testing::TraceBuilder;

/// Three clocks with events from 100,000 to 102,000. The error of the second one is in [-20, 30];
/// nothing is known of the third one.
TraceBuilder locations_to_project() {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) {
    b.request(trace::EventKind::irecv_request, l, 100'000, 1);
    b.request(trace::EventKind::irecv_request, l, 102'000, 2);
  }
  return b;
}
ProvenIntervals intervals_to_meet() {
  ProvenIntervals proven;
  proven.clock_of = {0, 1, 2};
  proven.lines.resize(3);
  proven.quantum = {0, 0, 0};
  proven.reference = 0;
  proven.begin = 100'000;
  proven.width = 2'001;
  proven.errors.resize(3);
  proven.errors[0] = known_error(0, 0);
  proven.errors[1] = known_error(-20, 30);
  return proven;
}
ClockMap shifted_by(std::int64_t ticks) {
  return *ClockMap::from_knots({{100'000, ticks}, {102'000, ticks}});
}
std::int64_t moved(constraints::testing::WholeTrace& whole, const ProvenIntervals& proven,
                   std::vector<ClockMap>& maps) {
  const auto held = project_inside(whole.context(), trace::separate_domains(3), proven, maps);
  EXPECT_TRUE(held);
  return held->moved;
}

TEST(ProjectInside, moves_a_map_as_little_as_needed) {
  constraints::testing::WholeTrace whole(locations_to_project().trace());
  std::vector<ClockMap> maps(3);
  maps[1] = shifted_by(1'000);
  // Allowed are times up to 20 after the stamp, give or take the rounding of stamps and knots.
  EXPECT_NEAR(static_cast<double>(moved(whole, intervals_to_meet(), maps)), 1'000 - 20, 6);
  EXPECT_NEAR(static_cast<double>(maps[1](101'000)), 101'020, 6);
  EXPECT_EQ(maps[0], ClockMap());
  EXPECT_EQ(maps[2], ClockMap());
}

/// Window by window, edges broke by what intervals changed inside a window.
TEST(ProjectInside, breaks_no_edge) {
  TraceBuilder b = locations_to_project();
  b.message(trace::EventKind::send, 2, 100'500, 1);
  b.message(trace::EventKind::recv, 1, 100'510, 2);
  constraints::testing::WholeTrace whole(b.trace());
  std::vector<ClockMap> maps(3);
  maps[1] = maps[2] = shifted_by(1'000);
  moved(whole, intervals_to_meet(), maps);
  EXPECT_NEAR(static_cast<double>(maps[1](100'510)), 100'530, 6);
  EXPECT_LT(maps[2](100'500), maps[1](100'510));
  EXPECT_GT(maps[2](100'500), maps[1](100'510) - 20) << "as little as needed";
}

/// The maps that the edges ask for are outside of the intervals: these are proved.
TEST(ProjectInside, intervals_count_where_edges_contradict_them) {
  TraceBuilder b = locations_to_project();
  b.message(trace::EventKind::send, 1, 100'510, 0);
  b.message(trace::EventKind::recv, 0, 100'400, 1);
  constraints::testing::WholeTrace whole(b.trace());
  std::vector<ClockMap> maps(3);
  maps[1] = shifted_by(1'000);
  EXPECT_GT(moved(whole, intervals_to_meet(), maps), 900);
  EXPECT_NEAR(static_cast<double>(maps[1](101'000)), 101'020, 6);
}

/// Edges alone move nothing: the fit and amortization look after these.
TEST(ProjectInside, maps_inside_stay_though_they_break_an_edge) {
  TraceBuilder b = locations_to_project();
  b.message(trace::EventKind::send, 2, 100'520, 1);
  b.message(trace::EventKind::recv, 1, 100'510, 2);
  constraints::testing::WholeTrace whole(b.trace());
  std::vector<ClockMap> maps(3);
  maps[1] = shifted_by(5);
  const std::vector<ClockMap> before = maps;
  EXPECT_EQ(moved(whole, intervals_to_meet(), maps), 0);
  EXPECT_EQ(maps, before);
}

TEST(ProjectInside, maps_inside_stay_and_so_do_all_without_proof) {
  constraints::testing::WholeTrace whole(locations_to_project().trace());
  std::vector<ClockMap> maps(3);
  maps[1] = shifted_by(5);
  const std::vector<ClockMap> before = maps;
  EXPECT_EQ(moved(whole, intervals_to_meet(), maps), 0);
  EXPECT_EQ(maps, before);
  maps[1] = shifted_by(1'000);
  ProvenIntervals none;
  none.about.reason = "there are no events";
  EXPECT_EQ(moved(whole, none, maps), 0);
  EXPECT_EQ(maps[1], shifted_by(1'000));
}

}  // namespace
}  // namespace entrain::bounds
