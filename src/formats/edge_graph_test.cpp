// SPDX-License-Identifier: BSD-3-Clause
#include "formats/edge_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/edge_list.hpp"
#include "formats/given_trace.hpp"
#include "match/testing.hpp"

namespace entrain::formats {
namespace {

using match::testing::pairs_of;
using testing::ElementsAre;
using testing::HasSubstr;
using Pairs = match::testing::Pairs;

Clocks clocks_named(std::initializer_list<const char*> names) {
  Clocks clocks;
  for (const char* name : names) clocks.clocks.push_back({.name = name});
  return clocks;
}

EdgeList one_way() {
  EdgeList list;
  list.cause_clock = {0, 1, 0, 2};
  list.cause_time = {100, 300, 200, 7};
  list.effect_clock = {1, 0, 1, 2};
  list.effect_time = {90, 400, 90, 9};
  list.kind = {EdgeKind::p2p, EdgeKind::rma, EdgeKind::p2p, EdgeKind::p2p};
  return list;
}

EdgeGraph made(const Clocks& clocks, const EdgeList& list, const MuTicks& mu = {}) {
  return graph_of(definitions_of(clocks), list.view(), mu, 2, nullptr).value();
}

TEST(GraphOfEdges, has_a_node_per_stamp_and_leaves_out_edges_inside_a_clock) {
  const Clocks clocks = clocks_named({"a", "b", "c"});
  const EdgeGraph result = made(clocks, one_way());
  EXPECT_THAT(result.graph.stamp, ElementsAre(100, 200, 400, 90, 300));
  EXPECT_THAT(result.graph.first_node, ElementsAre(0, 3, 5, 5));
  EXPECT_EQ(pairs_of(result.graph, EdgeKind::p2p),
            (Pairs{{{0, 100}, {1, 90}}, {{0, 200}, {1, 90}}}));
  EXPECT_EQ(pairs_of(result.graph, EdgeKind::rma), (Pairs{{{1, 300}, {0, 400}}}));
  EXPECT_EQ(count_of(result.left_out, "edges_inside_a_clock"), 1u);
}

TEST(GraphOfEdges, takes_the_larger_one_of_delay_and_mu) {
  EdgeList list = one_way();
  list.min_delay = {5, 0, 25, 0};
  const MuTicks mu{10, 10, 10};
  const EdgeGraph result = made(clocks_named({"a", "b", "c"}), list, mu);
  std::vector<std::int64_t> least;
  for (const match::Edge& edge : result.graph.edges) least.push_back(result.graph.mu_of(edge, mu));
  EXPECT_THAT(least, ElementsAre(10, 10, 25));  // by receive, then send
}

TEST(GraphOfEdges, orders_scans_by_rank_and_leaves_out_instances_without_pairs) {
  EdgeList list;
  list.members = {{2, 0, 10}, {1, 1, 20}, {0, 2, 30}, {2, 0, 40},
                  {1, 1, 50}, {0, 2, 60}, {1, 0, 70}, {1, 0, 80}};
  list.instances = {{.kind = EdgeKind::scan, .first = 0, .begins = 3, .ends = 3},
                    {.kind = EdgeKind::n_to_n, .first = 6, .begins = 1, .ends = 1}};
  const Clocks clocks = clocks_named({"a", "b", "c"});
  ASSERT_TRUE(check_edges(clocks, list.view(), 1));
  const EdgeGraph result = made(clocks, list);
  EXPECT_EQ(pairs_of(result.graph, EdgeKind::scan),
            (Pairs{{{1, 20}, {0, 60}}, {{2, 10}, {0, 60}}, {{2, 10}, {1, 50}}}));
  EXPECT_EQ(result.graph.exchanges.size(), 1u);
  EXPECT_EQ(count_of(result.left_out, "instances_without_pairs"), 1u);
  const EdgeList back = list_of(result.graph, {});
  EXPECT_EQ(back.members.size(), 6u);
  EXPECT_EQ(back.instances[0].kind, EdgeKind::scan);
}

TEST(TraceOfClocks, knows_domains_processes_and_machines) {
  Clocks clocks = clocks_named({"7", "8", "12"});
  clocks.clocks[0].machine = clocks.clocks[2].machine = "m";
  clocks.clocks[1].domain = clocks.clocks[2].domain = "d";
  const trace::Definitions definitions = definitions_of(clocks);
  EXPECT_THAT(definitions.node_of, ElementsAre(0, 1, 0));
  EXPECT_THAT(definitions.process_of, ElementsAre(0, 1, 2));
  EXPECT_THAT(definitions.known_clocks, ElementsAre(k_none, 0, 0));
  EXPECT_EQ(definitions.locations[2].id, 12u);
}

TEST(CheckOfEdges, names_what_is_wrong) {
  const Clocks clocks = clocks_named({"a", "b", "c"});
  const auto complaint = [&](const EdgeList& list) {
    const auto checked = check_edges(clocks, list.view(), 2);
    return checked ? std::string() : checked.error().message;
  };
  EXPECT_EQ(complaint(one_way()), "");
  EdgeList list = one_way();
  list.effect_time.pop_back();
  EXPECT_THAT(complaint(list), HasSubstr("effect_time has 3 elements, but cause_clock has 4"));
  list = one_way();
  list.cause_clock[2] = 3;
  EXPECT_THAT(complaint(list), HasSubstr("edge 2 names clock 3"));
  list = one_way();
  list.cause_time[1] = ~std::uint64_t{0};
  EXPECT_THAT(complaint(list), HasSubstr("edge 1 has a negative stamp"));
  list = one_way();
  list.min_delay = {0, 0, -1, 0};
  EXPECT_THAT(complaint(list), HasSubstr("edge 2 has a min_delay of -1"));
  list.min_delay.clear();
  list.members = {{0, 0, 1}, {0, 0, 2}};
  list.instances = {{.first = 0, .begins = 2, .ends = 0}};
  EXPECT_THAT(complaint(list), HasSubstr("clock 0 has two begins in instance 0"));
  list.instances = {{.first = 1, .begins = 2, .ends = 0}};
  EXPECT_THAT(complaint(list), HasSubstr("beyond the last"));
  EXPECT_THAT(check_edges(clocks_named({"a", "a"}), {}, 1).error().message,
              HasSubstr("two clocks have the name \"a\""));
}

}  // namespace
}  // namespace entrain::formats
