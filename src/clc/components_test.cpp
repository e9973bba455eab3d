// SPDX-License-Identifier: BSD-3-Clause
#include "clc/components.hpp"

#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clc/testing.hpp"
#include "match/testing.hpp"

namespace entrain::clc {
namespace {

using trace::testing::TraceBuilder;
using K = trace::EventKind;

/// The component of each node, where some nodes are one.
std::vector<std::uint32_t> component_of(const match::Graph& graph,
                                        std::initializer_list<NodeIndex> nodes) {
  std::vector<std::uint32_t> components(graph.node_count(), k_none);
  for (const NodeIndex n : nodes) components[n] = 0;
  return components;
}

TEST(DropInnerEdges, takes_out_pairs_with_both_ends_inside) {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::recv, l, 100, 1 - l);
    b.message(K::send, l, 500, 1 - l);
  }
  b.message(K::send, 2, 50, 0);
  b.message(K::recv, 0, 600, 2);
  match::Graph graph = match::build_graph(b.trace(), {});
  EXPECT_EQ(drop_inner_edges(graph, component_of(graph, {0, 1, 3, 4})), 2u);
  ASSERT_EQ(graph.edges.size(), 1u);
  EXPECT_EQ(graph.location_of(graph.edges[0].send), 2u);
}

TEST(DropInnerEdges, takes_exchanges_apart) {
  // Barriers of three locations: the nodes of 0 and 1 are one component.
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 100 + l, 200 + l, trace::op::barrier);
  match::Graph graph = match::build_graph(b.trace(), {});
  // Two begins in front of two ends.
  EXPECT_EQ(drop_inner_edges(graph, component_of(graph, {0, 1, 2, 3})), 4u);
  using match::testing::Pair;
  EXPECT_THAT(match::testing::pairs_of(graph, EdgeKind::n_to_n),
              ::testing::UnorderedElementsAre(Pair{{0, 100}, {2, 202}}, Pair{{1, 101}, {2, 202}},
                                              Pair{{2, 102}, {0, 200}}, Pair{{2, 102}, {1, 201}}));
}

TEST(DropInnerEdges, without_components_nothing_changes) {
  TraceBuilder b(2);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 500, 0);
  match::Graph graph = match::build_graph(b.trace(), {});
  EXPECT_EQ(drop_inner_edges(graph, component_of(graph, {})), 0u);
  EXPECT_EQ(graph.edges.size(), 1u);
}

TEST(FirstNotBelow, finds_the_place_of_an_order) {
  std::vector<match::Participant> side;
  for (const std::uint32_t order : {1u, 3u, 3u, 7u}) side.push_back({.order = order});
  for (const auto& [order, place] :
       {std::pair{0u, 0u}, {1u, 0u}, {2u, 1u}, {3u, 1u}, {4u, 3u}, {7u, 3u}, {8u, 4u}}) {
    EXPECT_EQ(first_not_below(side, order), place) << order;
  }
  EXPECT_EQ(first_not_below({}, 3), 0u);
}

}  // namespace
}  // namespace entrain::clc
