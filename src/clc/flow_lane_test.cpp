// SPDX-License-Identifier: BSD-3-Clause
#include "clc/flow_lane.hpp"

#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "clc/testing.hpp"

namespace entrain::clc {
namespace {

using testing::flow_alone;
using testing::k_gamma_09;
using testing::k_gamma_1;
using testing::Problem;
using testing::Times;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

constexpr Decimal9 k_gamma_05{500'000'000};

/// A request that no receive belongs to: a node without edges.
void internal(TraceBuilder& b, LocationIndex location, std::uint64_t time) {
  b.request(K::irecv_request, location, time, time);
}

struct OnePass {
  match::Graph graph;
  ForwardTimes forward;
  /// LC' of the nodes of one location.
  [[nodiscard]] Times times(LocationIndex l) const {
    return {forward.times.begin() + graph.first_node[l],
            forward.times.begin() + graph.first_node[l + 1]};
  }
};

/// A pass with the stored stamps as C.
OnePass run(const TraceBuilder& b, Decimal9 gamma, const MuTicks& mu = {}, std::int64_t delta = 0) {
  Problem problem(b, {.every_event = true});
  OnePass pass;
  pass.forward = flow_alone(problem.with(mu, delta), gamma);
  pass.graph = std::move(problem.graph);
  return pass;
}

TEST(FlowLane, hand_example_of_equation_3) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 60, 0);
  internal(b, 1, 70);
  internal(b, 1, 80);
  internal(b, 1, 500);
  internal(b, 1, 1060);
  const OnePass r = run(b, k_gamma_09, {5, 5, 5});
  // 100 + 5, then LC'(j-1) + 0.9 * (C(j) - C(j-1)) until C overtakes.
  EXPECT_EQ(r.times(1), (Times{105, 114, 123, 501, 1060}));
  EXPECT_EQ(r.times(0), (Times{100}));
  EXPECT_EQ(r.forward.jumps, 1u);
  EXPECT_EQ(r.forward.error, 45);
  EXPECT_TRUE(r.forward.jump[r.graph.first_node[1]]);
  EXPECT_FALSE(r.forward.jump[r.graph.first_node[1] + 1]);
}

TEST(FlowLane, a_receive_in_a_decay_jumps_only_above_it) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 0, 130, 1);
  b.message(K::send, 0, 150, 1);
  b.message(K::recv, 1, 60, 0);   // jumps by 40
  b.message(K::recv, 1, 100, 0);  // 136 by the decay alone: 130 is no violation any more
  b.message(K::recv, 1, 110, 0);  // 145 by the decay: jumps on to 150
  internal(b, 1, 120);
  const OnePass r = run(b, k_gamma_09);
  EXPECT_EQ(r.times(1), (Times{100, 136, 150, 159}));
  EXPECT_EQ(r.forward.jumps, 2u);
  EXPECT_EQ(r.forward.error, 40);
}

TEST(FlowLane, corrections_travel_along_messages) {
  TraceBuilder b(3);
  b.message(K::send, 0, 1000, 1);
  b.message(K::recv, 1, 10, 0);
  b.message(K::send, 1, 20, 2);
  b.message(K::recv, 2, 15, 1);
  const OnePass r = run(b, k_gamma_1, {0, 0, 3});
  EXPECT_EQ(r.times(1), (Times{1003, 1013}));
  EXPECT_EQ(r.times(2), (Times{1016}));
}

TEST(FlowLane, latency_class_of_a_message_chooses_mu) {
  TraceBuilder b(3, 1, 2);  // processes 0 and 1 share a node
  b.message(K::send, 0, 100, 1);
  b.message(K::send, 0, 200, 2);
  b.message(K::recv, 1, 100, 0);
  b.message(K::recv, 2, 200, 0);
  const OnePass r = run(b, k_gamma_09, {1, 10, 100});
  EXPECT_EQ(r.times(1), (Times{110}));
  EXPECT_EQ(r.times(2), (Times{300}));
}

TEST(FlowLane, barrier_end_waits_for_the_last_of_the_others) {
  TraceBuilder b(3);
  b.collective(0, 100, 110, trace::op::barrier);
  b.collective(1, 300, 310, trace::op::barrier);
  b.collective(2, 200, 210, trace::op::barrier);
  const OnePass r = run(b, k_gamma_09, {20, 20, 20});
  EXPECT_EQ(r.times(0), (Times{100, 320}));
  // Its own begin at 300 asks for nothing, although 310 is less than mu after it.
  EXPECT_EQ(r.times(1), (Times{300, 310}));
  EXPECT_EQ(r.times(2), (Times{200, 320}));
}

TEST(FlowLane, scan_waits_for_lower_ranks_only) {
  for (const MuTicks& mu : {MuTicks{5, 5, 5}, MuTicks{1, 2, 5}}) {
    TraceBuilder b(3);
    b.collective(0, 300, 302, trace::op::scan);  // shorter than mu: it does not wait for itself
    b.collective(1, 100, 110, trace::op::scan);
    b.collective(2, 200, 210, trace::op::scan);
    const OnePass r = run(b, k_gamma_09, mu);
    EXPECT_EQ(r.times(0), (Times{300, 302}));
    EXPECT_EQ(r.times(1), (Times{100, 305}));
    EXPECT_EQ(r.times(2), (Times{200, 305}));
  }
}

TEST(FlowLane, decay_over_a_million_nodes_does_not_drift) {
  // A state that is rounded up at every node would never fall at all.
  constexpr std::int64_t k_nodes = 1'000'000;
  TraceBuilder b(2);
  b.message(K::send, 0, 1'000, 1);
  b.message(K::recv, 1, 0, 0);  // d = 1000
  for (std::uint64_t t = 1; t <= k_nodes; ++t) internal(b, 1, t);
  const OnePass r = run(b, {999'000'000});
  const Times times = r.times(1);
  ASSERT_EQ(times.size(), k_nodes + 1u);
  for (std::int64_t t = 0; t <= k_nodes; ++t) {
    ASSERT_EQ(times[static_cast<std::size_t>(t)] - t, 1'000 - t / 1'000) << t;
  }
}

TEST(FlowLane, delta_keeps_distance) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 60, 0);
  internal(b, 1, 61);
  internal(b, 1, 64);
  EXPECT_EQ(run(b, k_gamma_05).times(1), (Times{100, 101, 102}));
  // min(2, 1) after the receive, then 2.
  EXPECT_EQ(run(b, k_gamma_05, {}, 2).times(1), (Times{100, 101, 103}));
  EXPECT_EQ(run(b, k_gamma_05, {}, 2).forward.jumps, 2u);
  EXPECT_EQ(run(b, k_gamma_05, {}, 1000).times(1), (Times{100, 101, 104}));
}

TEST(FlowLane, delta_leaves_a_clean_trace_alone) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  b.message(K::recv, 1, 10, 0);
  internal(b, 1, 11);
  internal(b, 1, 11);
  internal(b, 1, 20);
  const OnePass r = run(b, k_gamma_09, {}, 1000);
  EXPECT_EQ(r.times(1), (Times{10, 11, 20}));
  EXPECT_EQ(r.forward.jumps, 0u);
}

TEST(FlowLane, tied_nodes_get_one_time) {
  TraceBuilder b(3);
  b.message(K::send, 2, 500, 0);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 0, 100, 1);
  b.message(K::recv, 0, 100, 2);  // pushes the whole component
  b.message(K::send, 1, 100, 0);
  b.message(K::recv, 1, 100, 0);
  internal(b, 1, 110);
  const OnePass r = run(b, k_gamma_09, {7, 7, 7});
  EXPECT_EQ(r.times(0), (Times{507}));
  EXPECT_EQ(r.times(1), (Times{507, 516}));  // no latency inside the component
}

TEST(FlowLane, decay_after_tied_nodes_begins_at_the_last_one) {
  TraceBuilder b(3);
  b.message(K::send, 2, 500, 0);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.trace().locations[l].granule = 10;  // a tie may span 20 ticks
    b.message(K::recv, l, 100, 1 - l);
    if (l == 0) b.message(K::recv, l, 100, 2);
    b.message(K::send, l, 120, 1 - l);
    internal(b, l, 130);
  }
  const OnePass r = run(b, k_gamma_09);
  EXPECT_EQ(r.times(0), (Times{500, 500, 509}));
  EXPECT_EQ(r.times(1), (Times{500, 500, 509}));
}

}  // namespace
}  // namespace entrain::clc
