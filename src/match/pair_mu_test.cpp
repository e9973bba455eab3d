// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "match/graph.hpp"
#include "trace/testing.hpp"

namespace entrain::match {
namespace {

using trace::testing::TraceBuilder;
using K = trace::EventKind;

TEST(PairMu, the_smaller_value_of_a_pair_counts_both_ways_and_never_less_than_the_least) {
  trace::PairMu pairs;
  pairs.add(3, 1, 500);
  pairs.add(1, 3, 400);
  EXPECT_EQ(pairs.all().size(), 1u);
  EXPECT_EQ(pairs.of(1, 3, 0), 400);
  EXPECT_EQ(pairs.of(3, 1, 450), 450);
  EXPECT_EQ(pairs.of(1, 2, 7), 7);
}

TEST(PairMu, messages_have_the_latency_of_their_pair_of_machines) {
  TraceBuilder b(3);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 200, 0);
  b.message(K::send, 0, 300, 2);
  b.message(K::recv, 2, 400, 0);
  b.message(K::send, 2, 500, 1);
  b.message(K::recv, 1, 600, 2);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 1000, 2000, trace::op::barrier);
  Graph graph = build_graph(b.trace(), {});
  const MuTicks mu{1, 2, 30};
  const auto mu_of = [&](LocationIndex from, LocationIndex to) -> std::int64_t {
    for (const Edge& edge : graph.edges)
      if (graph.location_of(edge.send) == from && graph.location_of(edge.receive) == to)
        return graph.mu_of(edge, mu);
    return -1;
  };
  ASSERT_EQ(graph.latency_class(0, 1), LatencyClass::other);
  set_pair_mu(graph, {}, mu);
  EXPECT_EQ(mu_of(0, 1), 30);
  trace::PairMu pairs;
  pairs.add(graph.node_of[2], graph.node_of[0], 50);
  pairs.add(graph.node_of[0], graph.node_of[1], 20);  // below that of the class
  set_pair_mu(graph, pairs, mu);
  EXPECT_EQ(mu_of(0, 1), 30);
  EXPECT_EQ(mu_of(0, 2), 50);
  EXPECT_EQ(mu_of(2, 1), 30);
}

}  // namespace
}  // namespace entrain::match
