// SPDX-License-Identifier: BSD-3-Clause
#include "match/parts.hpp"

#include <gtest/gtest.h>

#include "base/random.hpp"
#include "constraints/edge_constraints.hpp"
#include "match/testing.hpp"

namespace entrain::causal {
namespace {

using match::testing::TraceBuilder;
using K = trace::EventKind;

/// Messages between any of 5 locations, one of which never receives, and barriers: enough for
/// several parts.
match::Graph large_graph() {
  constexpr std::uint32_t k_locations = 5;
  RandomStream random(7, 3);
  TraceBuilder b(k_locations);
  for (std::uint64_t i = 0; i < 90'000; ++i) {
    const std::uint64_t time = 1'000 * i;
    const auto from = static_cast<LocationIndex>(random.below(k_locations));
    const auto to =
        static_cast<LocationIndex>((from + 1 + random.below(k_locations - 1)) % k_locations);
    if (to == 2) continue;
    b.message(K::send, from, time + random.below(300), to);
    b.message(K::recv, to, time + 200 + random.below(300), from);
    if (i % 10 != 0) continue;
    for (LocationIndex l = 0; l < k_locations; ++l) {
      const std::uint64_t begin = time + 600 + random.below(100);
      b.collective(l, begin, begin + random.below(150), trace::op::barrier, trace::k_root_none);
    }
  }
  return match::build_graph(b.trace(), {});
}

TEST(Parts, hold_every_edge_and_exchange_once_in_order) {
  const match::Graph graph = large_graph();
  ASSERT_GT(graph.edges.size(), 60'000u);
  for (const unsigned threads : {1u, 2u, 3u}) {
    const std::vector<match::Part> parts = match::parts_of(graph, threads);
    ASSERT_EQ(parts.size(), threads);
    std::size_t edges = 0, exchanges = 0;
    for (const match::Part& part : parts) {
      EXPECT_EQ(part.edges.data(), graph.edges.data() + edges);
      EXPECT_EQ(part.exchanges.data(), graph.exchanges.data() + exchanges);
      const std::span<const std::uint64_t> stamps = graph.stamp;
      for_edges(graph, part, stamps,
                [&](const match::Edge& edge, LocationIndex from, LocationIndex to) {
                  ASSERT_EQ(from, graph.location_of(edge.send));
                  ASSERT_EQ(to, graph.location_of(edge.receive));
                  ++edges;
                });
      exchanges += part.exchanges.size();
    }
    EXPECT_EQ(edges, graph.edges.size());
    EXPECT_EQ(exchanges, graph.exchanges.size());
  }
}

TEST(Parts, locations_are_found_whatever_their_sizes) {
  RandomStream random(5, 1);
  for (int round = 0; round < 50; ++round) {
    match::Graph graph;
    graph.first_node.push_back(0);
    const std::uint64_t locations = 1 + random.below(40);
    for (std::uint64_t l = 0; l < locations; ++l) {
      const std::uint64_t nodes = random.below(3) == 0 ? 0 : random.below(random.below(2000) + 1);
      graph.first_node.push_back(graph.first_node.back() + static_cast<NodeIndex>(nodes));
    }
    graph.stamp.resize(graph.first_node.back());
    graph.halo.ghosts.push_back({.location = 3});
    const match::LocationFinder location_of(graph);
    for (NodeIndex node = 0; node < graph.node_count(); ++node) {
      ASSERT_EQ(location_of(node), graph.location_of(node)) << node;
    }
  }
}

TEST(Parts, share_participants_out_evenly) {
  match::Graph graph;  // a few large calls, then many small ones
  const auto add = [&](std::uint32_t exchanges, std::uint32_t participants) {
    for (std::uint32_t x = 0; x < exchanges; ++x) {
      match::Exchange exchange;
      exchange.first_send = static_cast<std::uint32_t>(graph.participants.size());
      exchange.send_count = participants;
      exchange.first_receive = exchange.first_send + participants;
      graph.participants.resize(graph.participants.size() + participants);
      graph.exchanges.push_back(exchange);
    }
  };
  add(1'000, 150);
  add(75'000, 2);
  const std::vector<match::Part> parts = match::parts_of(graph, 2);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_EQ(parts[0].exchanges.size(), 1'000u);
  EXPECT_EQ(parts[1].exchanges.size(), 75'000u);
}

TEST(Parts, small_graphs_are_one) {
  TraceBuilder b(2);
  EXPECT_EQ(match::parts_of(match::build_graph(b.trace(), {}), 8).size(), 1u);
}

TEST(Parts, constraints_do_not_depend_on_them) {
  const match::Graph graph = large_graph();
  const std::vector<std::int64_t> times(graph.stamp.begin(), graph.stamp.end());
  const std::vector<std::uint32_t> clock_of{0, 1, 2, 3, 4};
  Solo solo;
  const auto constraints = [&](unsigned threads) {
    constraints::ConstraintOptions options;
    options.times = times;
    options.clock_of = clock_of;
    options.clocks = 5;
    options.end = 90'000'000;
    options.windows = 100;
    options.threads = threads;
    std::vector<std::int64_t> figures;
    for (const constraints::ClockConstraint& constraint :
         constraints::collect_constraints(solo, graph, options)) {
      figures.insert(figures.end(), {constraint.from, constraint.from_time, constraint.to,
                                     constraint.to_time, constraint.slack});
    }
    return figures;
  };
  const auto expected = constraints(1);
  EXPECT_GT(expected.size(), 1'000u);
  for (const unsigned threads : {2u, 3u, 8u}) {
    EXPECT_EQ(constraints(threads), expected) << threads;
  }
}

}  // namespace
}  // namespace entrain::causal
