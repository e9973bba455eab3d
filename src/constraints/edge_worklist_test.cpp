// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/edge_worklist.hpp"

#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "base/random.hpp"

namespace entrain::constraints {
namespace {

using ::testing::ElementsAre;

struct Graph {
  std::size_t nodes = 0;
  std::vector<std::uint32_t> from, to;
  std::vector<int> cost;
};

Graph random_graph(RandomStream& random) {
  Graph graph;
  graph.nodes = 2 + random.below(40);
  for (std::size_t e = random.below(300); e-- > 0;) {
    graph.from.push_back(static_cast<std::uint32_t>(random.below(graph.nodes)));
    graph.to.push_back(static_cast<std::uint32_t>(random.below(graph.nodes)));
    graph.cost.push_back(static_cast<int>(random.below(30)) - 1);
  }
  return graph;
}

/// The edges that lowered a label, in their order, in so many rounds.
using Lowered = std::vector<std::size_t>;

Lowered try_all(const Graph& graph, int rounds) {
  std::vector<int> label(graph.nodes, 0);
  Lowered lowered;
  while (rounds-- > 0) {
    for (std::size_t e = 0; e < graph.from.size(); ++e) {
      const int at = label[graph.from[e]] + graph.cost[e];
      if (at >= label[graph.to[e]]) continue;
      label[graph.to[e]] = at;
      lowered.push_back(e);
    }
  }
  return lowered;
}

Lowered try_due(const Graph& graph, int rounds) {
  std::vector<int> label(graph.nodes, 0);
  Lowered lowered;
  EdgeWorklist due(graph.from, graph.nodes);
  due.mark_all();
  while (rounds-- > 0) {
    due.round([&](std::uint32_t e) {
      const int at = label[graph.from[e]] + graph.cost[e];
      if (at >= label[graph.to[e]]) return k_none;
      label[graph.to[e]] = at;
      lowered.push_back(e);
      return graph.to[e];
    });
  }
  return lowered;
}

TEST(EdgeWorklist, moves_are_those_of_trying_all) {
  RandomStream random(1, 0);
  for (int i = 0; i < 300; ++i) {
    const Graph graph = random_graph(random);
    EXPECT_EQ(try_due(graph, 12), try_all(graph, 12)) << i;
  }
}

TEST(EdgeWorklist, ranges_keep_apart_what_is_due) {
  const std::vector<std::uint32_t> begins{0, 1, 0, 1};
  EdgeWorklist due(begins, 2);
  std::vector<std::uint32_t> tried;
  const auto see = [&](std::uint32_t e) {
    tried.push_back(e);
    return k_none;
  };
  due.moved(0, {0, 4});
  due.moved(1, {0, 2});
  EXPECT_FALSE(due.round(see, {2, 4}));
  EXPECT_THAT(tried, ElementsAre(2));
  EXPECT_FALSE(due.round(see));
  EXPECT_THAT(tried, ElementsAre(2, 0, 1));
}

/// A chain in the worst order: every round moves one node, and costs as much.
TEST(EdgeWorklist, a_round_costs_what_it_moves) {
  constexpr std::uint32_t k_nodes = 100'000;
  std::vector<std::uint32_t> begins;
  for (std::uint32_t n = k_nodes; n-- > 0;) begins.push_back(n);
  EdgeWorklist due(begins, k_nodes + 1);
  due.moved(0);
  std::uint32_t rounds = 0;
  while (due.round([&](std::uint32_t e) { return begins[e] + 1; }) && rounds < k_nodes) ++rounds;
  EXPECT_EQ(rounds, k_nodes);
  EXPECT_LE(due.steps(), 2 * k_nodes + 1);
}

}  // namespace
}  // namespace entrain::constraints
