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

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

/// Locations receive from their right neighbour at `first` and send to the left one at `second`: a
/// cycle of all nodes.
void add_cycle(TraceBuilder& b, std::vector<LocationIndex> locations, std::uint64_t first,
               std::uint64_t second) {
  for (std::size_t i = 0; i < locations.size(); ++i) {
    const LocationIndex right = locations[(i + 1) % locations.size()];
    const LocationIndex left = locations[(i + locations.size() - 1) % locations.size()];
    b.message(K::recv, locations[i], first, right);
    b.message(K::send, locations[i], second, left);
  }
}

TEST(Components, a_graph_without_cycles_has_none) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  b.message(K::recv, 1, 20, 0);
  b.collective(0, 30, 40, trace::op::barrier);
  b.collective(1, 30, 40, trace::op::barrier);
  b.collective(0, 50, 60, trace::op::scan);
  b.collective(1, 50, 60, trace::op::scan);
  const Components found = find_components(match::build_graph(b.trace(), {}));
  EXPECT_THAT(found.tied, IsEmpty());
  EXPECT_THAT(found.errors, IsEmpty());
}

TEST(Components, an_empty_graph_has_none) {
  const Components found = find_components(match::build_graph(TraceBuilder(3).trace(), {}));
  EXPECT_THAT(found.tied, IsEmpty());
  EXPECT_THAT(found.errors, IsEmpty());
}

TEST(Components, are_ordered_by_their_first_node_and_divided_by_their_width) {
  TraceBuilder b(5);
  for (LocationIndex l = 0; l < 5; ++l) b.trace().locations[l].granule = 10;
  add_cycle(b, {0, 1, 2}, 100, 121);  // nodes 0 to 3, 6 and 7: wider than two granules
  add_cycle(b, {3, 4}, 100, 120);     // not wider
  add_cycle(b, {0, 1}, 200, 200);
  const Components found = find_components(match::build_graph(b.trace(), {}));
  ASSERT_EQ(found.tied.size(), 2u);
  EXPECT_THAT(found.tied[0].nodes, ElementsAre(2, 5));
  EXPECT_THAT(found.tied[1].nodes, ElementsAre(8, 9, 10, 11));
  ASSERT_EQ(found.errors.size(), 1u);
  EXPECT_THAT(found.errors[0].nodes, ElementsAre(0, 1, 3, 4, 6, 7));
}

TEST(Components, cross_collectives) {
  // Location 0 leaves a barrier at 100, sends, and location 1 receives before it begins, all at
  // 100.
  TraceBuilder b(2);
  b.collective(0, 90, 100, trace::op::barrier);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 100, 0);
  b.collective(1, 100, 110, trace::op::barrier);
  const Components found = find_components(match::build_graph(b.trace(), {}));
  ASSERT_EQ(found.tied.size(), 1u);
  EXPECT_THAT(found.tied[0].nodes, ElementsAre(1, 2));
}

TEST(Components, cross_prefix_sums_only_from_lower_to_higher_ranks) {
  for (const bool against : {false, true}) {
    const LocationIndex from = against ? 1 : 0, to = 1 - from;
    TraceBuilder b(2);
    b.collective(from, 90, 100, trace::op::scan);
    b.message(K::send, from, 100, to);
    b.message(K::recv, to, 100, from);
    b.collective(to, 100, 110, trace::op::scan);
    // The end of rank 1 waits for the begin of rank 0; rank 0 waits for nobody.
    EXPECT_EQ(find_components(match::build_graph(b.trace(), {})).tied.size(), against ? 1u : 0u);
  }
}

TEST(DropInnerEdges, takes_out_pairs_with_both_ends_inside) {
  TraceBuilder b(3);
  add_cycle(b, {0, 1}, 100, 500);
  b.message(K::send, 2, 50, 0);
  b.message(K::recv, 0, 600, 2);
  match::Graph graph = match::build_graph(b.trace(), {});
  const Components found = find_components(graph);
  ASSERT_EQ(found.errors.size(), 1u);
  EXPECT_EQ(drop_inner_edges(graph, found.errors), 2u);
  ASSERT_EQ(graph.edges.size(), 1u);
  EXPECT_EQ(graph.location_of(graph.edges[0].send), 2u);
}

TEST(DropInnerEdges, takes_exchanges_apart) {
  // Barriers of three locations: the nodes of 0 and 1 are one component.
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 100 + l, 200 + l, trace::op::barrier);
  match::Graph graph = match::build_graph(b.trace(), {});
  const std::vector<TiedNodes> components{{.nodes = {0, 1, 2, 3}, .peers = {}}};
  // Two begins in front of two ends.
  EXPECT_EQ(drop_inner_edges(graph, components), 4u);
  using match::testing::Pair;
  EXPECT_THAT(match::testing::pairs_of(graph, EdgeKind::n_to_n),
              ::testing::UnorderedElementsAre(Pair{{0, 100}, {2, 202}}, Pair{{1, 101}, {2, 202}},
                                              Pair{{2, 102}, {0, 200}}, Pair{{2, 102}, {1, 201}}));
}

TEST(DropInnerEdges, without_components_nothing_changes) {
  TraceBuilder b(2);
  add_cycle(b, {0, 1}, 100, 500);
  match::Graph graph = match::build_graph(b.trace(), {});
  EXPECT_EQ(drop_inner_edges(graph, {}), 0u);
  EXPECT_EQ(graph.edges.size(), 2u);
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
