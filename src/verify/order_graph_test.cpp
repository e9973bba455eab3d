// SPDX-License-Identifier: BSD-3-Clause
#include "verify/order_graph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace entrain::verify {
namespace {

using Components = std::vector<std::pair<EventRef, std::uint32_t>>;
using Edges = std::vector<ClusterEdge>;

/// Location of the hubs of a graph of two locations.
constexpr LocationIndex k_hubs = 2;

Components components_of(OrderGraph& graph, const Edges& edges, std::uint32_t next = 0) {
  Components found;
  graph.take(edges);
  graph.for_each_component(
      next, [&](EventRef event, std::uint32_t component) { found.emplace_back(event, component); });
  return found;
}
Components components_of(const Edges& edges, std::uint32_t next = 0) {
  OrderGraph graph(2, 1);
  return components_of(graph, edges, next);
}

TEST(OrderGraph, edges_and_local_order_close_a_cycle) {
  // Location 0 waits at its first event for the last of location 1, and the other way round.
  EXPECT_EQ(components_of({{0, {1, 2}, {0, 0}}, {0, {0, 1}, {1, 1}}}, 5),
            (Components{{{0, 0}, 5}, {{0, 1}, 5}, {{1, 1}, 5}, {{1, 2}, 5}}));
}

TEST(OrderGraph, no_cycle_without_a_way_back) {
  EXPECT_EQ(components_of({}), Components{});
  EXPECT_EQ(components_of({{0, {0, 0}, {1, 1}}, {0, {1, 0}, {0, 1}}}), Components{});
}

TEST(OrderGraph, two_cycles_are_two_components_and_what_follows_is_in_none) {
  Edges edges;
  for (const std::uint32_t e : {0U, 2U}) {
    edges.push_back({0, {0, e}, {1, e}});
    edges.push_back({0, {1, e}, {0, e}});
  }
  edges.push_back({0, {0, 4}, {1, 4}});  // after both
  const Components found = components_of(edges);
  ASSERT_EQ(found.size(), 4);
  EXPECT_EQ(found[0].first, (EventRef{0, 0}));
  EXPECT_EQ(found[0].second, found[2].second);
  EXPECT_EQ(found[1].first, (EventRef{0, 2}));
  EXPECT_EQ(found[1].second, found[3].second);
  EXPECT_NE(found[0].second, found[1].second);
}

TEST(OrderGraph, hubs_carry_order_but_are_no_events) {
  // A barrier whose begin and end share a stamp on each location.
  const EventRef hub{k_hubs, 0};
  EXPECT_EQ(components_of({{0, {0, 0}, hub}, {0, hub, {0, 0}}, {0, {1, 0}, hub}, {0, hub, {1, 0}}}),
            (Components{{{0, 0}, 0}, {{1, 0}, 0}}));
  // A single event is no cycle.
  EXPECT_EQ(components_of({{0, {0, 0}, hub}, {0, hub, {0, 0}}}), Components{});
  // Hubs have no order of their own.
  EXPECT_EQ(components_of({{0, {0, 0}, hub}, {0, {k_hubs, 1}, {0, 0}}}), Components{});
}

TEST(OrderGraph, a_chain_of_hubs_orders) {
  const EventRef a{k_hubs, 0}, b{k_hubs, 1};
  Edges edges{{0, {0, 0}, a}, {0, a, b}, {0, b, {1, 0}}};
  EXPECT_EQ(components_of(edges), Components{});
  edges.push_back({0, {1, 0}, {0, 0}});
  EXPECT_EQ(components_of(edges), (Components{{{0, 0}, 0}, {{1, 0}, 0}}));
}

TEST(OrderGraph, nothing_is_left_of_the_graph_before) {
  OrderGraph graph(2, 1);
  const auto cycle_at = [](std::uint32_t e) {
    return Edges{{0, {0, e}, {1, e}}, {0, {1, e}, {0, e}}};
  };
  for (const std::uint32_t e : {3000U, 50U, 700U}) {
    EXPECT_EQ(components_of(graph, cycle_at(e)), (Components{{{0, e}, 0}, {{1, e}, 0}}));
  }
  EXPECT_EQ(graph.take(Edges{{0, {0, 10}, {1, 20}}, {0, {0, 12}, {1, 20}}}), 4u);
}

/// True if `to` can be reached from `from` by edges and the order of three locations.
bool reaches(const Edges& edges, EventRef from, EventRef to) {
  std::vector<EventRef> seen{from};
  for (std::size_t k = 0; k < seen.size(); ++k) {
    const auto visit = [&](EventRef event) {
      if (std::find(seen.begin(), seen.end(), event) == seen.end()) seen.push_back(event);
    };
    for (const ClusterEdge& edge : edges) {
      if (edge.from == seen[k]) visit(edge.to);
    }
    if (seen[k].event + 1 < 8) visit({seen[k].location, seen[k].event + 1});
  }
  return std::find(seen.begin() + 1, seen.end(), to) != seen.end();
}

TEST(OrderGraph, components_are_the_events_that_reach_each_other) {
  std::mt19937 engine(1);
  const auto random = [&] { return static_cast<std::uint32_t>(engine()); };
  const auto event = [&] { return EventRef{random() % 3, random() % 8}; };
  for (int trial = 0; trial < 500; ++trial) {
    Edges edges;
    while (edges.size() < 1 + random() % 6) {
      const EventRef from = event(), to = event();
      if (from.location != to.location) edges.push_back({0, from, to});
    }
    OrderGraph graph(3, 1);
    const Components found = components_of(graph, edges);
    for (const auto& [a, component] : found) {
      for (const auto& [b, other] : found) {
        const bool both = a == b || (reaches(edges, a, b) && reaches(edges, b, a));
        EXPECT_EQ(component == other, both) << trial;
      }
    }
    for (const ClusterEdge& edge : edges) {
      const bool inside = std::any_of(found.begin(), found.end(),
                                      [&](const auto& one) { return one.first == edge.from; });
      EXPECT_EQ(inside, std::any_of(edges.begin(), edges.end(),
                                    [&](const ClusterEdge& other) {
                                      return edge.from != other.to &&
                                             reaches(edges, edge.from, other.to) &&
                                             reaches(edges, other.to, edge.from);
                                    }))
          << trial;
    }
  }
}

}  // namespace
}  // namespace entrain::verify
