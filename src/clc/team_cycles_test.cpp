// SPDX-License-Identifier: BSD-3-Clause
#include "clc/team_cycles.hpp"

#include <span>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clc/team_testing.hpp"

namespace entrain::clc {
namespace {

using ::testing::ElementsAre;
using testing::in_team;
using ::testing::IsEmpty;
using testing::Problem;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

/// Per location: its first node.
std::span<const NodeIndex> all_nodes(const match::Graph& graph) {
  return std::span(graph.first_node).first(graph.location_count());
}

TEST(CycleSuspects, have_times_where_edges_of_any_member_go_back) {
  TraceBuilder b(2);
  for (const std::uint64_t t : {100, 150, 200, 300, 400, 500}) {
    if (t == 150) b.message(K::recv, 1, t, 0);
    if (t == 300) b.message(K::send, 0, t, 1);
    if (t == 500) b.message(K::recv, 0, t, 1);
    if (t == 500) b.message(K::send, 1, t, 0);
    for (LocationIndex l = 0; l < 2; ++l) b.request(K::irecv_request, l, t, 1);
  }
  const auto done =
      in_team(b, {0, 1}, [&](const trace::Share& share, Problem& problem) -> Result<void> {
        const match::Graph& graph = problem.graph;
        std::vector<bool> marked =
            cycle_suspects(share.team, graph, problem.presync, all_nodes(graph));
        EXPECT_THAT(std::vector<bool>(marked.begin(), marked.begin() + 6),
                    ElementsAre(false, true, true, true, false, true));
        EXPECT_TRUE(marked.at(6));  // the ghost
        std::vector<NodeIndex> left(all_nodes(graph).begin(), all_nodes(graph).end());
        left[share.team.rank()] += 3;
        marked = cycle_suspects(share.team, graph, problem.presync, left);
        EXPECT_THAT(std::vector<bool>(marked.begin(), marked.begin() + 6),
                    ElementsAre(false, false, false, true, false, true));
        return {};
      });
  EXPECT_TRUE(done);
}

TEST(CycleSuspects, have_times_between_a_late_begin_and_an_early_end) {
  TraceBuilder b(2);
  b.collective(0, 100, 200, trace::op::barrier);
  b.collective(1, 300, 350, trace::op::barrier);
  const match::Graph graph = match::build_graph(b.trace(), {});
  const std::vector<std::int64_t> times(graph.stamp.begin(), graph.stamp.end());
  Solo solo;
  EXPECT_THAT(cycle_suspects(solo, graph, times, all_nodes(graph)),
              ElementsAre(false, true, true, false));
}

/// Two rings of messages over three locations: a narrow one of 0 and 1, a wide one of all.
TraceBuilder rings() {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::send, l, 100, 1 - l, 1);
    b.message(K::recv, l, 100, 1 - l, 1);
  }
  for (LocationIndex l = 0; l < 3; ++l) {
    b.message(K::recv, l, 1'000, (l + 2) % 3);
    b.message(K::send, l, 2'000, (l + 1) % 3);
  }
  return b;
}

TEST(SettleCycles, ties_and_cuts_across_members) {
  const auto done =
      in_team(rings(), {0, 1, 2}, [&](const trace::Share& share, Problem& problem) -> Result<void> {
        match::Graph& graph = problem.graph;
        TRY_ASSIGN(const Cycles cycles,
                   settle_cycles(share, graph, problem.presync, all_nodes(graph)));
        EXPECT_EQ(cycles.tied.size(), 1u);
        EXPECT_EQ(cycles.tied_nodes, 2u);
        EXPECT_EQ(cycles.dropped_components, 1u);
        EXPECT_EQ(cycles.dropped_edges, 3u);
        const TiedNodes& tied = cycles.tied.at(0);
        const unsigned rank = share.team.rank();
        if (rank == 2) {
          EXPECT_THAT(tied.nodes, IsEmpty());
          EXPECT_THAT(tied.peers, IsEmpty());
        } else {
          EXPECT_THAT(tied.nodes, ElementsAre(0));
          EXPECT_THAT(tied.peers, ElementsAre(1 - rank));
          EXPECT_EQ(cycles.component_of(0), 0u);
          EXPECT_EQ(cycles.component_of(1), k_none);
        }
        // The edges of the narrow ring stay.
        EXPECT_EQ(graph.edges.size(), rank == 2 ? 0u : 1u);
        for (const match::Edge& edge : graph.edges) EXPECT_EQ(edge.receive, 0u);
        return {};
      });
  EXPECT_TRUE(done);
}

TEST(SettleCycles, looks_at_nodes_that_are_left_only) {
  const auto done =
      in_team(rings(), {0, 1, 1}, [&](const trace::Share& share, Problem& problem) -> Result<void> {
        match::Graph& graph = problem.graph;
        const std::span ends = std::span(graph.first_node).subspan(1);
        TRY_ASSIGN(const Cycles cycles, settle_cycles(share, graph, problem.presync, ends));
        EXPECT_TRUE(cycles.counters().empty());
        EXPECT_TRUE(cycles.tied_of.empty());
        return {};
      });
  EXPECT_TRUE(done);
}

/// The cycles of a trace that one process has.
Cycles cycles_of(const TraceBuilder& b) {
  match::Graph graph = match::build_graph(b.trace(), {});
  return testing::settle_alone(graph);
}

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

TEST(SettleCycles, a_graph_without_cycles_has_none) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  b.message(K::recv, 1, 20, 0);
  b.collective(0, 30, 40, trace::op::barrier);
  b.collective(1, 30, 40, trace::op::barrier);
  b.collective(0, 50, 60, trace::op::scan);
  b.collective(1, 50, 60, trace::op::scan);
  EXPECT_THAT(cycles_of(b).counters(), IsEmpty());
}

TEST(SettleCycles, an_empty_graph_has_none) {
  EXPECT_THAT(cycles_of(TraceBuilder(3)).counters(), IsEmpty());
}

TEST(SettleCycles, are_ordered_by_their_first_node_and_divided_by_their_width) {
  TraceBuilder b(5);
  for (LocationIndex l = 0; l < 5; ++l) b.trace().locations[l].granule = 10;
  add_cycle(b, {0, 1, 2}, 100, 121);  // nodes 0 to 3, 6 and 7: wider than two granules
  add_cycle(b, {3, 4}, 100, 120);     // not wider
  add_cycle(b, {0, 1}, 200, 200);
  const Cycles found = cycles_of(b);
  ASSERT_EQ(found.tied.size(), 2u);
  EXPECT_THAT(found.tied[0].nodes, ElementsAre(2, 5));
  EXPECT_THAT(found.tied[1].nodes, ElementsAre(8, 9, 10, 11));
  EXPECT_EQ(found.dropped_components, 1u);
  EXPECT_EQ(found.dropped_edges, 3u);
}

TEST(SettleCycles, cross_collectives) {
  // Location 0 leaves a barrier at 100, sends, and location 1 receives before it begins, all at
  // 100.
  TraceBuilder b(2);
  b.collective(0, 90, 100, trace::op::barrier);
  b.message(K::send, 0, 100, 1);
  b.message(K::recv, 1, 100, 0);
  b.collective(1, 100, 110, trace::op::barrier);
  const Cycles found = cycles_of(b);
  ASSERT_EQ(found.tied.size(), 1u);
  EXPECT_THAT(found.tied[0].nodes, ElementsAre(1, 2));
}

TEST(SettleCycles, cross_prefix_sums_only_from_lower_to_higher_ranks) {
  for (const bool against : {false, true}) {
    const LocationIndex from = against ? 1 : 0, to = 1 - from;
    TraceBuilder b(2);
    b.collective(from, 90, 100, trace::op::scan);
    b.message(K::send, from, 100, to);
    b.message(K::recv, to, 100, from);
    b.collective(to, 100, 110, trace::op::scan);
    // The end of rank 1 waits for the begin of rank 0; rank 0 waits for nobody.
    EXPECT_EQ(cycles_of(b).tied.size(), against ? 1u : 0u);
  }
}

}  // namespace
}  // namespace entrain::clc
