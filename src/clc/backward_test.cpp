// SPDX-License-Identifier: BSD-3-Clause
#include "clc/backward.hpp"

#include <optional>
#include <ostream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clc/components.hpp"
#include "clc/ramp_testing.hpp"
#include "clc/testing.hpp"
#include "match/parts.hpp"

namespace entrain::clc {

namespace {

using ::testing::ElementsAre;
using trace::testing::TraceBuilder;
using K = trace::EventKind;
using Times = std::vector<std::int64_t>;

struct Built {
  std::vector<Ramp> ramps;
  Times displacement;
};

/// gamma only says how d falls after a node that a ramp has met.
Built build(const std::vector<testing::RampNode>& nodes,
            std::optional<std::uint64_t> first_stamp = {}) {
  const testing::RampArrays arrays(nodes, 7);
  Built result;
  result.displacement = arrays.lower;
  result.ramps =
      build_ramps(arrays.input(first_stamp.value_or(nodes.front().stamp)), result.displacement);
  return result;
}

TEST(BuildRamps, nothing_to_build_up_without_a_jump) {
  const Built built = build({{0}, {100, 5}, {200}});
  EXPECT_TRUE(built.ramps.empty());
  EXPECT_THAT(built.displacement, ElementsAre(0, 5, 0));
}

TEST(BuildRamps, single_ramp_is_the_jump_over_the_slope_long) {
  const Built built = build({{0}, {4000}, {4500}, {4950}, {5000, 10, true}, {5100}});
  ASSERT_EQ(built.ramps.size(), 1u);
  EXPECT_THAT(built.ramps[0], ElementsAre(Bend{4000, 0}, Bend{5000, 10}));
  EXPECT_THAT(built.displacement, ElementsAre(0, 0, 5, 9, 10, 0));  // 9.5 rounded down
}

TEST(BuildRamps, a_limit_cuts_the_ramp) {
  const Built built = build({{0}, {500}, {800}, {900, 0, false, 4}, {950}, {1000, 10, true}});
  ASSERT_EQ(built.ramps.size(), 1u);
  EXPECT_THAT(built.ramps[0], ElementsAre(Bend{500, 0}, Bend{900, 4}, Bend{1000, 10}));
  EXPECT_THAT(built.displacement, ElementsAre(0, 0, 3, 4, 7, 10));
}

TEST(BuildRamps, a_limit_above_the_ramp_does_nothing) {
  const Built built = build({{0}, {900, 0, false, 9}, {1000, 10, true}});
  EXPECT_THAT(built.ramps[0], ElementsAre(Bend{0, 0}, Bend{1000, 10}));
  EXPECT_THAT(built.displacement, ElementsAre(0, 9, 10));
}

TEST(BuildRamps, two_limits_make_a_hull) {
  const Built built = build({{0}, {800, 0, false, 1}, {900, 0, false, 4}, {1000, 10, true}});
  EXPECT_THAT(built.ramps[0],
              ElementsAre(Bend{700, 0}, Bend{800, 1}, Bend{900, 4}, Bend{1000, 10}));
  EXPECT_THAT(built.displacement, ElementsAre(0, 1, 4, 10));
}

TEST(BuildRamps, a_limit_above_the_hull_of_the_others_is_no_vertex) {
  // The line from (800, 1) to the top passes (900, 5.5).
  const Built built = build({{0}, {800, 0, false, 1}, {900, 0, false, 8}, {1000, 10, true}});
  EXPECT_THAT(built.ramps[0], ElementsAre(Bend{700, 0}, Bend{800, 1}, Bend{1000, 10}));
  EXPECT_THAT(built.displacement, ElementsAre(0, 1, 5, 10));
}

TEST(BuildRamps, a_limit_of_nothing_ends_the_ramp) {
  const Built built = build({{0}, {900, 0, false, 0}, {1000, 10, true}});
  EXPECT_THAT(built.displacement, ElementsAre(0, 0, 10));
  EXPECT_EQ(built.ramps[0].front().displacement, 0);
  EXPECT_EQ(built.ramps[0].front().stamp, 900u);
}

TEST(BuildRamps, ends_where_it_meets_the_decay_of_an_earlier_jump) {
  // d falls from 40 at 1000 to 10 at 1300. The ramp is above it at 1220 and 1200 and meets it where
  // 40 - (t - 1000) / 10 = 30 - (1300 - t) / 100: at 1118.2.
  const Built built = build({{1000, 40, true}, {1200, 20}, {1220, 18}, {1300, 30, true}});
  ASSERT_EQ(built.ramps.size(), 2u);  // from right to left
  EXPECT_THAT(built.ramps[0], ElementsAre(Bend{1118, 28}, Bend{1300, 30}));
  EXPECT_THAT(built.ramps[1], ElementsAre(Bend{1000, 40}));
  EXPECT_THAT(built.displacement, ElementsAre(40, 29, 29, 30));
}

TEST(BuildRamps, overlapping_ramps_take_the_maximum_not_the_sum) {
  // 50 jumps of 10 ticks, 10 apart, each on top of nothing: d falls to 0 in between.
  std::vector<testing::RampNode> nodes{{0}};
  for (std::uint64_t k = 0; k < 50; ++k) {
    nodes.push_back({2'000 + 10 * k, 10, true});
    nodes.push_back({2'005 + 10 * k});
  }
  const Built built = build(nodes);
  for (std::size_t n = 2; n + 1 < nodes.size(); ++n) {
    EXPECT_GE(built.displacement[n], 9) << n;
    EXPECT_LE(built.displacement[n], 10) << n;
  }
}

TEST(BuildRamps, pressed_under_an_earlier_top_it_rests_on_it) {
  // The straight way from the top to the limit of 0 at 450 passes under the earlier top.
  const Built built =
      build({{0}, {450, 0, false, 0}, {500, 8, true}, {600}, {750}, {1000, 20, true}});
  ASSERT_EQ(built.ramps.size(), 1u);
  EXPECT_THAT(built.ramps[0], ElementsAre(Bend{450, 0}, Bend{500, 8}, Bend{1000, 20}));
  EXPECT_THAT(built.displacement, ElementsAre(0, 0, 8, 10, 14, 20));
}

TEST(BuildRamps, first_event_may_be_moved_and_ends_the_ramp) {
  // The first event, at 800, is no node.
  const Built built = build({{900}, {1000, 10, true}}, 800);
  EXPECT_THAT(built.ramps[0], ElementsAre(Bend{800, 8}, Bend{1000, 10}));
  EXPECT_THAT(built.displacement, ElementsAre(9, 10));
}

TEST(BuildRamps, a_jump_at_the_first_event_has_no_room_for_a_ramp) {
  const Built built = build({{1000, 10, true}, {1100}});
  ASSERT_EQ(built.ramps.size(), 1u);
  EXPECT_THAT(built.ramps[0], ElementsAre(Bend{1000, 10}));
  EXPECT_THAT(built.displacement, ElementsAre(10, 0));
}

TEST(BuildRamps, example) {
  const Built free = build({{5'000}, {8'000}, {10'000, 40, true}}, 0);
  EXPECT_THAT(free.displacement, ElementsAre(0, 20, 40));
  ASSERT_EQ(free.ramps.size(), 1u);
  EXPECT_THAT(free.ramps[0], ElementsAre(Bend{6'000, 0}, Bend{10'000, 40}));
  const Built held = build({{5'000}, {8'000, 0, false, 10}, {10'000, 40, true}}, 0);
  EXPECT_THAT(held.displacement, ElementsAre(0, 10, 40));
  ASSERT_EQ(held.ramps.size(), 1u);
  EXPECT_THAT(held.ramps[0], ElementsAre(Bend{7'000, 0}, Bend{8'000, 10}, Bend{10'000, 40}));
}

TEST(BuildRamps, stamps_since_the_epoch_do_not_overflow) {
  const std::uint64_t t = 1'700'000'000'000'000'000;
  const Built built =
      build({{t}, {t + 1'000'000'000'000}, {t + 2'000'000'000'000, 10'000'000'000, true}});
  EXPECT_THAT(built.displacement, ElementsAre(0, 0, 10'000'000'000));
  EXPECT_THAT(built.ramps[0], ElementsAre(Bend{t + 1'000'000'000'000, 0},
                                          Bend{t + 2'000'000'000'000, 10'000'000'000}));
}

/// Latest times of all nodes, LC' being the stored stamps.
Times limits_of(const TraceBuilder& b, const MuTicks& mu = {}) {
  match::Graph graph = match::build_graph(b.trace(), {.every_event = true});
  const Cycles cycles = testing::settle_alone(graph);
  const Times times(graph.stamp.begin(), graph.stamp.end());
  Solo solo;
  match::HaloExchange halo(solo, graph);
  const auto limits = send_limits(halo, cycles, times, mu);
  return {limits.begin(), limits.end()};
}

TEST(SendLimits, a_send_may_move_to_its_receive_less_latency) {
  TraceBuilder b(3, 1, 2);
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 0, 200, 2);
  b.message(K::recv, 1, 150, 0);
  b.message(K::recv, 2, 250, 0);
  EXPECT_THAT(limits_of(b, {1, 2, 10}), ElementsAre(148, 240, k_no_limit, k_no_limit));
}

TEST(SendLimits, earliest_of_the_other_receivers_counts) {
  TraceBuilder b(3);
  b.collective(0, 100, 150, trace::op::barrier);
  b.collective(1, 110, 140, trace::op::barrier);
  b.collective(2, 120, 160, trace::op::barrier);
  // Location 1 itself is the earliest; its own limit is the next one.
  EXPECT_THAT(limits_of(b, {5, 5, 5}),
              ElementsAre(135, k_no_limit, 145, k_no_limit, 135, k_no_limit));
}

TEST(SendLimits, scan_looks_at_higher_ranks) {
  TraceBuilder b(3);
  b.collective(0, 100, 150, trace::op::scan);
  b.collective(1, 110, 140, trace::op::scan);
  b.collective(2, 120, 160, trace::op::scan);
  for (const MuTicks& mu : {MuTicks{5, 5, 5}, MuTicks{1, 2, 5}}) {
    EXPECT_THAT(limits_of(b, mu),
                ElementsAre(135, k_no_limit, 155, k_no_limit, k_no_limit, k_no_limit));
  }
}

TEST(SendLimits, never_earlier_than_the_node_itself) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 103, 0);
  EXPECT_THAT(limits_of(b, {5, 5, 5}), ElementsAre(100, k_no_limit));
}

TEST(SendLimits, do_not_depend_on_threads) {
  TraceBuilder b(4);
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::uint64_t time = 100 * i;
    for (const LocationIndex to : {1u, 2u, 3u}) {  // one node sends to all
      b.message(K::send, 0, time, to);
      b.message(K::recv, to, time + 10 + i * to % 7, 0);
    }
    for (LocationIndex l = 0; l < 4; ++l) {
      b.collective(l, time + 30 + i * l % 5, time + 50 + i * l % 11, trace::op::barrier);
    }
  }
  const match::Graph graph = match::build_graph(b.trace(), {});
  const Times times(graph.stamp.begin(), graph.stamp.end());
  Solo solo;
  match::HaloExchange halo(solo, graph);
  const auto expected = send_limits(halo, {}, times, {1, 2, 3});
  EXPECT_EQ(expected[0], 10 - 3);  // the earliest of three receives, less latency
  EXPECT_GT(match::parts_of(graph, 3).size(), 1u);
  for (const unsigned threads : {2u, 3u}) {
    EXPECT_EQ(send_limits(halo, {}, times, {1, 2, 3}, threads), expected) << threads;
  }
}

TEST(SendLimits, tied_nodes_may_not_move) {
  TraceBuilder b(2);
  for (const LocationIndex l : {0u, 1u}) {
    b.trace().locations[l].granule = 10;
    b.message(K::recv, l, 100, 1 - l);
    b.message(K::send, l, 120, 1 - l);
  }
  EXPECT_THAT(limits_of(b), ElementsAre(100, 120, 100, 120));  // receives too
}

}  // namespace
}  // namespace entrain::clc
