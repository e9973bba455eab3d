// SPDX-License-Identifier: BSD-3-Clause
// The reference against results that were worked out by hand.
#include "support/reference_clc.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace entrain::test {
namespace {

using ::testing::ElementsAre;
constexpr std::int64_t k_u = k_unlimited;
constexpr std::int64_t k_one_percent = 10'000'000;

ReferenceForward forward(const ReferenceProblem& problem, std::int64_t gamma,
                         std::int64_t delta = 0) {
  return reference_forward(problem, reference_cycles(problem), gamma, delta);
}

TEST(ReferenceForward, pushes_the_receive_and_decays) {
  ReferenceProblem problem;
  problem.add_location({1000});
  problem.add_location({900, 901, 1100, 1900, 2000, 3000});
  problem.pairs = {{0, 1, 5, EdgeKind::p2p}};
  const ReferenceForward result = forward(problem, 900'000'000);
  // Displacement 105 at 900, then a tenth of the way is taken back, rounded up in time.
  EXPECT_THAT(result.time, ElementsAre(1000, 1005, 901 + 105, 1100 + 85, 1900 + 5, 2000, 3000));
  EXPECT_THAT(result.jump, ElementsAre(false, true, false, false, false, false, false));
  EXPECT_EQ(result.error, 105);
}

TEST(ReferenceForward, fractions_do_not_stop_the_decay) {
  ReferenceProblem problem;
  problem.add_location({1000});
  problem.add_location({999, 1000, 1001, 1009, 1010, 1011});
  problem.pairs = {{0, 1, 0, EdgeKind::p2p}};
  EXPECT_THAT(forward(problem, 900'000'000).time,
              ElementsAre(1000, 1000, 1001, 1002, 1009 + 0, 1010, 1011));
}

TEST(ReferenceForward, sender_that_is_reached_by_rounding_up_is_no_jump) {
  ReferenceProblem problem;
  problem.add_location({100, 111});
  problem.add_location({90, 101});
  problem.pairs = {{0, 2, 0, EdgeKind::p2p}, {1, 3, -1, EdgeKind::p2p}};
  // b = 10 - 1.1 = 8.9, so LC' = 101 + 9 = 110 is the demand of the sender.
  const ReferenceForward result = forward(problem, 900'000'000);
  EXPECT_THAT(result.time, ElementsAre(100, 111, 100, 110));
  EXPECT_THAT(result.jump, ElementsAre(false, false, true, false));
}

TEST(ReferenceForward, gamma_one_never_decays) {
  ReferenceProblem problem;
  problem.add_location({100});
  problem.add_location({90, 1'000'000});
  problem.pairs = {{0, 1, 0, EdgeKind::p2p}};
  EXPECT_THAT(forward(problem, 1'000'000'000).time, ElementsAre(100, 100, 1'000'010));
}

TEST(ReferenceForward, delta_keeps_distance) {
  ReferenceProblem problem;
  problem.add_location({1000});
  problem.add_location({900, 902, 950});
  problem.pairs = {{0, 1, 0, EdgeKind::p2p}};
  // gamma 0.5: displacement 100, 99, 75. With delta 2 the second node keeps its distance and is a
  // jump to 100; the third has 100 - 24 = 76 left.
  EXPECT_THAT(forward(problem, 500'000'000).time, ElementsAre(1000, 1000, 1001, 1025));
  const ReferenceForward result = forward(problem, 500'000'000, 2);
  EXPECT_THAT(result.time, ElementsAre(1000, 1000, 1002, 1026));
  EXPECT_THAT(result.jump, ElementsAre(false, true, true, false));
}

TEST(ReferenceForward, delta_leaves_a_clean_trace_alone) {
  ReferenceProblem problem;
  problem.add_location({10, 11, 12, 500});
  EXPECT_THAT(forward(problem, 990'000'000, 100).time, ElementsAre(10, 11, 12, 500));
}

TEST(ReferenceCycles, equal_stamps_get_one_time) {
  ReferenceProblem problem;
  problem.add_location({100, 200}, 100);
  problem.add_location({150}, 100);
  problem.add_location({300}, 100);
  // 0 -> 2 -> 0 is a cycle; 3 pushes it with mu, inside mu counts nothing.
  problem.pairs = {{0, 2, 7, EdgeKind::p2p}, {2, 0, 7, EdgeKind::p2p}, {3, 2, 7, EdgeKind::p2p}};
  const ReferenceCycles cycles = reference_cycles(problem);
  EXPECT_EQ(cycles.kept_components, 1u);
  EXPECT_EQ(cycles.dropped_components, 0u);
  const ReferenceForward result = reference_forward(problem, cycles, 1'000'000'000, 0);
  EXPECT_THAT(result.time, ElementsAre(307, 407, 307, 300));
  EXPECT_THAT(result.jump, ElementsAre(true, false, true, false));
  EXPECT_EQ(reference_violations(problem, cycles, result.time), 0u);
}

TEST(ReferenceCycles, wide_components_lose_their_edges) {
  ReferenceProblem problem;
  problem.add_location({100, 200, 301}, 100);
  problem.add_location({150}, 100);
  problem.pairs = {{2, 3, 0, EdgeKind::p2p}, {3, 0, 0, EdgeKind::p2p}};
  const ReferenceCycles cycles = reference_cycles(problem);
  EXPECT_EQ(cycles.kept_components, 0u);
  EXPECT_EQ(cycles.dropped_components, 1u);
  EXPECT_THAT(cycles.dropped, ElementsAre(true, true));
  EXPECT_THAT(reference_forward(problem, cycles, 990'000'000, 0).time,
              ElementsAre(100, 200, 301, 150));
  problem.stamp[2] = 300;  // exactly two granules
  EXPECT_EQ(reference_cycles(problem).kept_components, 1u);
}

TEST(ReferenceRamps, single_ramp) {
  const std::vector<std::uint64_t> stamp{0, 4000, 4500, 4999, 5000, 6000};
  const std::vector<std::int64_t> lower{0, 0, 0, 0, 10, 5}, limit(6, k_u);
  EXPECT_THAT(reference_ramps(stamp, lower, limit, {false, false, false, false, true, false},
                              k_one_percent),
              ElementsAre(0, 0, 5, 9, 10, 5));
}

TEST(ReferenceRamps, first_node_may_move) {
  const std::vector<std::uint64_t> stamp{4700, 5000};
  const std::vector<std::int64_t> lower{0, 10}, limit(2, k_u);
  EXPECT_THAT(reference_ramps(stamp, lower, limit, {false, true}, k_one_percent),
              ElementsAre(7, 10));
}

TEST(ReferenceRamps, one_limit_bends_the_ramp) {
  const std::vector<std::uint64_t> stamp{4000, 4200, 4300, 4500, 4600, 5000};
  const std::vector<std::int64_t> lower{0, 0, 0, 0, 0, 10}, limit{k_u, k_u, k_u, 3, k_u, k_u};
  // To (4500, 3) with slope 7/500, from there with 0.01.
  EXPECT_THAT(reference_ramps(stamp, lower, limit, {false, false, false, false, false, true},
                              k_one_percent),
              ElementsAre(0, 0, 1, 3, 4, 10));
}

TEST(ReferenceRamps, limits_at_the_ramp_change_nothing) {
  const std::vector<std::uint64_t> stamp{4000, 4500, 5000};
  const std::vector<std::int64_t> lower{0, 0, 10}, limit{0, 5, k_u};
  EXPECT_THAT(reference_ramps(stamp, lower, limit, {false, false, true}, k_one_percent),
              ElementsAre(0, 5, 10));
}

TEST(ReferenceRamps, two_limits_make_a_hull) {
  const std::vector<std::uint64_t> stamp{3000, 3300, 3500, 3750, 4000, 4500, 5000};
  const std::vector<std::int64_t> lower{0, 0, 0, 0, 0, 0, 30};
  const std::vector<bool> jump{false, false, false, false, false, false, true};
  // Slopes 0.02, 0.012, 0.01 from right to left.
  EXPECT_THAT(
      reference_ramps(stamp, lower, std::vector<std::int64_t>{k_u, k_u, 4, k_u, 10, k_u, k_u}, jump,
                      k_one_percent),
      ElementsAre(0, 2, 4, 7, 10, 20, 30));
  // The farther limit is the lower one: the nearer no longer counts.
  EXPECT_THAT(
      reference_ramps(stamp, lower, std::vector<std::int64_t>{k_u, k_u, 0, k_u, 12, k_u, k_u}, jump,
                      k_one_percent),
      ElementsAre(0, 0, 0, 5, 10, 20, 30));
}

TEST(ReferenceRamps, overlapping_ramps_take_the_maximum) {
  const std::vector<std::uint64_t> stamp{0, 9'900, 10'000, 10'100};
  const std::vector<std::int64_t> lower{0, 10, 20, 30}, limit(4, k_u);
  // Three jumps of 10, one after the other: slope 0.1 for the last two, never their sum.
  EXPECT_THAT(reference_ramps(stamp, lower, limit, {false, true, true, true}, k_one_percent),
              ElementsAre(0, 28, 29, 30));
}

TEST(ReferenceRamps, pressed_under_an_earlier_top_rests_on_it) {
  const std::vector<std::uint64_t> stamp{3000, 3500, 3750, 4000, 4500, 5000};
  const std::vector<std::int64_t> lower{0, 0, 0, 20, 0, 35}, limit{k_u, 2, k_u, k_u, k_u, k_u};
  // The straight line from (5000, 35) to (3500, 2) would pass under (4000, 20).
  EXPECT_THAT(
      reference_ramps(stamp, lower, limit, {false, false, false, true, false, true}, k_one_percent),
      ElementsAre(0, 2, 11, 20, 27, 35));
}

TEST(ReferenceRamps, limit_of_a_moved_receive_holds) {
  ReferenceProblem problem;
  problem.add_location({1000, 5000});
  problem.add_location({4000, 6000});
  problem.add_location({900, 3990});
  problem.pairs = {{1, 3, 0, EdgeKind::p2p},   // no violation: 5000 -> 6000
                   {2, 1, 0, EdgeKind::p2p},   // no violation: 4000 -> 5000
                   {3, 5, 0, EdgeKind::p2p},   // violation: 6000 -> 3990, jump of 2010
                   {4, 0, 0, EdgeKind::p2p}};  // a send at 900 with 100 to spare
  const ReferenceCycles cycles = reference_cycles(problem);
  const ReferenceForward up = reference_forward(problem, cycles, 999'000'000, 0);
  EXPECT_THAT(up.time, ElementsAre(1000, 5000, 4000, 6000, 900, 6000));
  EXPECT_THAT(reference_limits(problem, cycles, up.time),
              ElementsAre(k_u, 1000, 1000, 0, 100, k_u));
  EXPECT_THAT(reference_backward(problem, cycles, up, k_one_percent),
              ElementsAre(1000, 5000, 4000, 6000, 1000, 6000));
}

TEST(ReferenceGamma, takes_the_largest_that_costs_little) {
  ReferenceProblem problem;
  problem.add_location({1000});
  problem.add_location({900, 2000});
  problem.pairs = {{0, 1, 0, EdgeKind::p2p}};
  EXPECT_EQ(reference_gamma(problem, reference_cycles(problem), 0), 999'990'000);
}

}  // namespace
}  // namespace entrain::test
