// SPDX-License-Identifier: BSD-3-Clause
#include "clc/team_cycles.hpp"

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

TEST(CycleSuspects, have_times_in_windows_of_any_member) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    for (const std::uint64_t t : {100, 200, 300, 400, 500}) b.request(K::irecv_request, l, t, 1);
  }
  const std::vector<std::vector<TimeWindow>> windows{{{150, 300}, {160, 170}}, {{400, 499}}};
  const auto done =
      in_team(b, {0, 1}, [&](const trace::Share& share, Problem& problem) -> Result<void> {
        EXPECT_THAT(
            cycle_suspects(share.team, problem.graph, problem.presync, windows[share.team.rank()]),
            ElementsAre(false, true, true, true, false));
        EXPECT_THAT(cycle_suspects(share.team, problem.graph, problem.presync, {}),
                    ElementsAre(false, false, false, false, false));
        return {};
      });
  EXPECT_TRUE(done);
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
        Incidence incidence(graph);
        const Cycles cycles =
            settle_cycles(share, graph, incidence, std::vector<bool>(graph.node_count(), true));
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
        for (NodeIndex n = 1; n < graph.own_count(); ++n) {
          EXPECT_TRUE(incidence.in_edges.of(n).empty());
        }
        return {};
      });
  EXPECT_TRUE(done);
}

TEST(SettleCycles, looks_at_suspects_only) {
  const auto done =
      in_team(rings(), {0, 1, 1}, [&](const trace::Share& share, Problem& problem) -> Result<void> {
        Incidence incidence(problem.graph);
        const std::vector<bool> none(problem.graph.node_count(), false);
        const Cycles cycles = settle_cycles(share, problem.graph, incidence, none);
        EXPECT_TRUE(cycles.counters().empty());
        EXPECT_TRUE(cycles.tied_of.empty());
        return {};
      });
  EXPECT_TRUE(done);
}

TEST(SizeBetween, counts_suspects_and_their_connections) {
  TraceBuilder b(3);
  b.message(K::send, 0, 1, 1);
  b.message(K::recv, 1, 2, 0);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 10, 20, trace::op::barrier);
  const match::Graph graph = match::build_graph(b.trace(), {});
  std::vector<bool> suspects(graph.node_count(), true);
  Solo solo;
  const auto sizes = [&] {
    const match::GraphSize size = size_between(solo, graph, suspects);
    return std::vector<std::uint64_t>{size.nodes, size.edges, size.exchanges, size.participants};
  };
  EXPECT_THAT(sizes(), ElementsAre(8, 1, 1, 6));
  suspects[0] = false;  // the send
  EXPECT_THAT(sizes(), ElementsAre(7, 0, 1, 6));
  for (NodeIndex n = 0; n < suspects.size(); ++n) {
    if (graph.stamp[n] == 10) suspects[n] = false;
  }
  EXPECT_THAT(sizes(), ElementsAre(4, 0, 0, 0));
}

}  // namespace
}  // namespace entrain::clc
