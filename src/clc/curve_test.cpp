// SPDX-License-Identifier: BSD-3-Clause
#include "clc/curve.hpp"

#include <ostream>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clc/ramp_testing.hpp"
#include "trace/testing.hpp"

namespace entrain {

// For messages.
static void PrintTo(const ClockKnot& knot, std::ostream* out) {
  *out << '(' << knot.local << ", " << knot.offset << ')';
}

namespace clc {

namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

trace::LocationSkeleton location(std::uint64_t first, std::uint64_t last,
                                 std::uint64_t events = 2) {
  trace::LocationSkeleton skeleton;
  skeleton.event_count = events;
  skeleton.first = first;
  skeleton.last = last;
  return skeleton;
}

ClockMap map_with(std::vector<ClockKnot> knots) { return *ClockMap::from_knots(std::move(knots)); }

TEST(MakeMap, bends_first_last_and_one_tick_after_become_knots) {
  const ClockMap map = make_map({}, {{500, 0}, {1000, 10}}, location(100, 2000));
  EXPECT_THAT(map.knots(), ElementsAre(ClockKnot{100, 0}, ClockKnot{500, 0}, ClockKnot{1000, 10},
                                       ClockKnot{2000, 10}, ClockKnot{2001, 10}));
}

TEST(MakeMap, a_steep_ramp_is_not_extrapolated) {
  const ClockMap map = make_map({}, {{100, 0}, {200, 50}}, location(100, 200));
  EXPECT_THAT(map.knots(), ElementsAre(ClockKnot{100, 0}, ClockKnot{200, 50}, ClockKnot{201, 50}));
  EXPECT_EQ(map(1000), 1050);
}

TEST(MakeMap, bends_outside_of_the_events_give_only_values) {
  const ClockMap map = make_map({}, {{0, 0}, {200, 20}, {400, 0}}, location(100, 300));
  EXPECT_THAT(map.knots(), ElementsAre(ClockKnot{100, 10}, ClockKnot{200, 20}, ClockKnot{300, 10},
                                       ClockKnot{301, 10}));
}

TEST(MakeMap, presync_knots_between_the_events_are_kept) {
  // Those at 0 and 9000 lie outside; the one at 1500 is where the clock's rate changes.
  const ClockMap presync = map_with({{0, 100}, {1500, 250}, {9000, 250}});
  const ClockMap map = make_map(presync, {{500, 0}, {1000, 10}}, location(100, 2000));
  EXPECT_THAT(map.knots(),
              ElementsAre(ClockKnot{100, 110}, ClockKnot{500, 150}, ClockKnot{1000, 210},
                          ClockKnot{1500, 260}, ClockKnot{2000, 260}, ClockKnot{2001, 260}));
}

TEST(MakeMap, no_knot_inside_a_buffer_flush) {
  // A reader that has seen the stop time 700 does not go back to a segment before it.
  trace::LocationSkeleton skeleton = location(100, 2000);
  skeleton.flushes.push_back({450, 700});
  const ClockMap map = make_map({}, {{500, 0}, {1000, 10}}, skeleton);
  EXPECT_THAT(map.knots(),
              ElementsAre(ClockKnot{100, 0}, ClockKnot{450, 0}, ClockKnot{700, 4},
                          ClockKnot{1000, 10}, ClockKnot{2000, 10}, ClockKnot{2001, 10}));
}

TEST(MakeMap, a_flush_is_split_only_for_events_inside_and_on_demand) {
  trace::LocationSkeleton skeleton = location(100, 2000);
  skeleton.flushes.push_back({450, 700});
  for (const std::uint64_t time : {450, 700}) {  // its ends are not inside
    skeleton.events.push_back({.time = time});
  }
  const ClockMap whole = make_map({}, {{500, 0}, {1000, 10}}, skeleton);
  EXPECT_EQ(make_map({}, {{500, 0}, {1000, 10}}, skeleton, true), whole);
  trace::testing::change_events(
      skeleton, [](auto& events) { events.insert(events.begin() + 1, trace::Event{.time = 500}); });
  EXPECT_EQ(make_map({}, {{500, 0}, {1000, 10}}, skeleton), whole);
  EXPECT_THAT(make_map({}, {{500, 0}, {1000, 10}}, skeleton, true).knots(),
              ElementsAre(ClockKnot{100, 0}, ClockKnot{500, 0}, ClockKnot{1000, 10},
                          ClockKnot{2000, 10}, ClockKnot{2001, 10}));
}

TEST(MakeMap, knots_at_the_ends_of_a_flush_may_stay) {
  trace::LocationSkeleton skeleton = location(100, 2000);
  skeleton.flushes = {{500, 1000}, {1000, 1200}};
  const ClockMap map = make_map({}, {{500, 0}, {1000, 10}}, skeleton);
  EXPECT_THAT(map.knots(), ElementsAre(ClockKnot{100, 0}, ClockKnot{500, 0}, ClockKnot{1000, 10},
                                       ClockKnot{2000, 10}, ClockKnot{2001, 10}));
}

TEST(MakeMap, a_flush_that_outlasts_the_last_event_ends_the_map) {
  trace::LocationSkeleton skeleton = location(100, 2000);
  skeleton.flushes.push_back({1900, 2500});
  const ClockMap map = make_map({}, {{1000, 0}, {2000, 100}}, skeleton);
  EXPECT_THAT(map.knots(), ElementsAre(ClockKnot{100, 0}, ClockKnot{1000, 0}, ClockKnot{1900, 90},
                                       ClockKnot{2500, 100}, ClockKnot{2501, 100}));
}

TEST(MakeMap, one_event_needs_two_knots_and_none_needs_nothing) {
  const ClockMap one = make_map({}, {{100, 7}}, location(100, 100, 1));
  EXPECT_THAT(one.knots(), ElementsAre(ClockKnot{100, 7}, ClockKnot{101, 7}));
  const ClockMap presync = map_with({{0, 1}, {10, 2}});
  EXPECT_EQ(make_map(presync, {{100, 7}}, location(0, 0, 0)), presync);
}

TEST(MakeMap, time_never_runs_back_between_knots) {
  // Clock and correction fall by half a tick per tick each; both round down from 150 to 151.
  const ClockMap presync = map_with({{100, 0}, {150, -25}, {151, -26}, {200, -50}});
  const ClockMap map = make_map(presync, {{100, 50}, {200, 0}}, location(100, 200));
  EXPECT_TRUE(map.is_monotone());
  EXPECT_EQ(map(150), 150);
  EXPECT_EQ(map(151), 150);
}

TEST(InsertBends, sorts_replaces_and_keeps) {
  Curve curve{{100, 1}, {200, 2}, {300, 3}};
  insert_bends(curve, {{250, 9}, {200, 8}, {50, 7}, {400, 6}});
  EXPECT_THAT(curve, ElementsAre(Bend{50, 7}, Bend{100, 1}, Bend{200, 8}, Bend{250, 9},
                                 Bend{300, 3}, Bend{400, 6}));
  insert_bends(curve, {{400, 1}, {400, 2}});  // the last one counts
  EXPECT_EQ(curve.back(), (Bend{400, 2}));
  insert_bends(curve, {});
  EXPECT_EQ(curve.size(), 6u);
}

/// A location with its displacements after forward amortization.
struct Nodes {
  std::vector<std::uint64_t> stamps;
  std::vector<std::int64_t> lower;
  std::vector<bool> jump;
  ClockMap presync_map = {};
  Decimal9 gamma{900'000'000};

  DisplacedLocation input() const {
    DisplacedLocation input;
    input.stamps = stamps;
    input.lower = lower;
    input.jump = &jump;
    input.presync_map = &presync_map;
    input.gamma = gamma;
    return input;
  }
};

TEST(CurveOfRamps, ramps_and_the_decays_between_them) {
  Nodes nodes{{0, 1000, 3000}, {0, 10, 5}, {false, true, true}};
  // 10 decays within 100 ticks.
  const std::vector<Ramp> ramps{{{2500, 0}, {3000, 5}}, {{0, 0}, {1000, 10}}};
  EXPECT_THAT(curve_of_ramps(nodes.input(), ramps),
              ElementsAre(Bend{0, 0}, Bend{1000, 10}, Bend{1100, 0}, Bend{2500, 0}, Bend{3000, 5},
                          Bend{3050, 0}));
}

TEST(CurveOfRamps, gamma_one_never_decays) {
  Nodes nodes{{0, 1000}, {0, 10}, {false, true}};
  nodes.gamma = {1'000'000'000};
  const std::vector<Ramp> ramps{{{0, 0}, {1000, 10}}};
  EXPECT_THAT(curve_of_ramps(nodes.input(), ramps), ElementsAreArray(ramps[0]));
}

TEST(CurveOfRamps, decay_is_a_line_in_presynchronised_time) {
  // The clock runs at half speed until local 1040: there 80 of the 100 ticks are over.
  Nodes nodes{{1000, 5000}, {10, 0}, {true, false}};
  nodes.presync_map = map_with({{1000, 0}, {1040, 40}, {5000, 40}});
  const std::vector<Ramp> ramps{{{1000, 10}}};
  EXPECT_THAT(curve_of_ramps(nodes.input(), ramps),
              ElementsAre(Bend{1000, 10}, Bend{1040, 2}, Bend{1060, 0}));
}

TEST(CurveOfRamps, nothing_without_ramps) {
  Nodes nodes{{0, 1000}, {0, 0}, {false, false}};
  EXPECT_THAT(curve_of_ramps(nodes.input(), {}), IsEmpty());
}

TEST(CurveOfJumps, a_jump_is_one_tick_wide) {
  Nodes nodes{{0, 1000, 1050}, {0, 10, 8}, {false, true, true}};
  EXPECT_THAT(
      curve_of_jumps(nodes.input()),
      ElementsAre(Bend{999, 0}, Bend{1000, 10}, Bend{1049, 6}, Bend{1050, 8}, Bend{1130, 0}));
}

TEST(CurveOfJumps, a_jump_at_time_zero_has_nothing_before_it) {
  Nodes nodes{{0}, {10}, {true}};
  const Curve curve = curve_of_jumps(nodes.input());
  ClockMap map = make_map({}, curve, location(0, 1000));
  EXPECT_EQ(map(0), 10);
  EXPECT_EQ(map(100), 100);
}

}  // namespace
}  // namespace clc
}  // namespace entrain
