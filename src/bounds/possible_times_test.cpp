// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/possible_times.hpp"

#include <gtest/gtest.h>

#include "constraints/testing.hpp"
#include "trace/testing.hpp"

namespace entrain::bounds {
namespace {

/// Location 0 is the reference; location 1 has a clock of its own, whose line is 100 ahead, and an
/// error in [-5, 8] at time 500. Nothing is known of location 2. Two windows of 1000 ticks.
ProvenIntervals two_clocks() {
  ProvenIntervals proven;
  proven.clock_of = {0, 1, 2};
  proven.lines = {
      {}, constraints::BaseLine{.anchor = 0, .value = 100, .rate = 0}, constraints::BaseLine{}};
  proven.quantum = {2, 3, 3};
  proven.reference = 0;
  proven.begin = 0;
  proven.width = 1'000;
  proven.windows = 2;
  proven.errors = {
      {},
      {difference::RateRange::within(10'000'000),
       {{.time = 500, .lower = -5 * difference::k_tick, .upper = 8 * difference::k_tick}}},
      {}};
  return proven;
}

TEST(PossibleTimes, errors_grow_by_the_rate) {
  const ProvenIntervals proven = two_clocks();
  const ClockMap identity;
  const PossibleTimes possible(proven, identity);
  // 3 for the stamp and 1 for the line; 1 % of the distance from time 500, which is stamp 400.
  EXPECT_EQ(possible.errors(1, 400, 400).lower, -5 - 4);
  EXPECT_EQ(possible.errors(1, 400, 400).upper, 8 + 4);
  EXPECT_EQ(possible.errors(1, 390, 500).upper, 8 + 1 + 4);
  EXPECT_FALSE(possible.errors(2, 0, 1'000).bounded());
  EXPECT_EQ(possible.errors(0, 0, 1'000).lower, 0);
  EXPECT_EQ(possible.errors(0, 0, 1'000).upper, 0);
}

TEST(PossibleTimes, are_the_line_minus_the_errors) {
  const ProvenIntervals proven = two_clocks();
  const ClockMap identity;
  const PossibleTimes possible(proven, identity);
  // The line shows 400 at stamp 300. Stamps of the reference are found to within 3.
  const TickRange range = possible.at(1, 300, {-14, 17});
  EXPECT_EQ(range.least, 400 - 17 - 3);
  EXPECT_EQ(range.most, 400 + 14 + 3);
  const ClockMap late = *ClockMap::from_knots({{0, 50}, {1'000, 50}});
  EXPECT_EQ(PossibleTimes(proven, late).at(1, 300, {-14, 17}).least, 400 - 17 - 3 + 50);
}

TEST(PossibleTimes, the_middle_of_a_window_is_a_stamp_of_the_location) {
  const ProvenIntervals proven = two_clocks();
  const ClockMap identity;
  const PossibleTimes possible(proven, identity);
  EXPECT_EQ(possible.middle(1, 0, 0, 5'000), 400u);
  EXPECT_EQ(possible.middle(1, 1, 0, 5'000), 1'400u);
  EXPECT_EQ(possible.middle(1, 0, 600, 5'000), 600u) << "it begins later";
  EXPECT_EQ(possible.middle(1, 1, 0, 1'000), 1'000u) << "it ends earlier";
}

TEST(SharedMap, is_that_of_the_reference) {
  constraints::testing::WholeTrace whole(trace::testing::TraceBuilder(2).trace());
  std::vector<ClockMap> maps(2);
  maps[1] = *ClockMap::from_knots({{0, 7}, {10, 8}});
  EXPECT_EQ(shared_map(whole.share(), 1, maps), maps[1]);
  EXPECT_EQ(shared_map(whole.share(), 0, maps), ClockMap());
}

}  // namespace
}  // namespace entrain::bounds
