// SPDX-License-Identifier: BSD-3-Clause
// The graph holds exactly the edges that the random program knows to be true.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "property/corrected.hpp"

namespace entrain::test {
namespace {

std::uint64_t counter(const Counters& counters, const std::string& name) {
  for (const auto& [key, value] : counters) {
    if (key == name) return value;
  }
  return 0;
}

RC_GTEST_PROP(Match, finds_the_true_edges, ()) {
  const TracePlan plan = *any_plan();
  const RandomTrace random = random_trace(plan);
  const match::Graph graph = graph_of(random, plan);
  RC_ASSERT(expanded(graph) == random.edges);
  RC_ASSERT(counter(graph.unmatched, "sends") == random.unmatched_sends);
  RC_ASSERT(counter(graph.unmatched, "receives") == random.unmatched_receives);
  RC_ASSERT(counter(graph.skipped, "cancelled_sends") +
                counter(graph.skipped, "cancelled_receives") ==
            random.cancelled);
  RC_ASSERT(counter(graph.skipped, "alltoallv_instances") ==
            (plan.dense_alltoallv ? 0 : random.alltoallv));
  RC_ASSERT(counter(graph.skipped, "partners_contradicting") == random.contradicting);
  // What is not counted here found its partners.
  for (const auto& [name, count] : graph.unmatched) {
    RC_ASSERT(count == 0u || name == "sends" || name == "receives");
  }
}

RC_GTEST_PROP(Match, any_number_of_threads_builds_the_same_graph, ()) {
  TracePlan plan = *any_plan();
  plan.unmatched = *flag();
  const RandomTrace random = random_trace(plan);
  match::Options options{plan.dense_alltoallv, plan.init_finalize, *flag()};
  const match::Graph one = match::build_graph(random.trace, options);
  options.threads = *rc::gen::element(2u, 3u, 8u);
  const match::Graph several = match::build_graph(random.trace, options);
  RC_ASSERT(several.first_node == one.first_node);
  RC_ASSERT(several.stamp == one.stamp);
  RC_ASSERT(expanded(several) == expanded(one));
  RC_ASSERT(several.unmatched == one.unmatched);
  RC_ASSERT(several.skipped == one.skipped);
}

/// Where records are missing, the graph may know less, but it tells what it left out.
RC_GTEST_PROP(Match, counts_what_it_leaves_out, ()) {
  TracePlan plan = *any_plan();
  const std::size_t complete = graph_of(random_trace(plan), plan).edges.size();
  plan.unmatched = true;
  const RandomTrace random = random_trace(plan);
  const match::Graph graph = graph_of(random, plan);
  RC_ASSERT(counter(graph.unmatched, "sends") >= random.unmatched_sends);
  RC_ASSERT(counter(graph.unmatched, "receives") >= random.unmatched_receives);
  RC_ASSERT(counter(graph.unmatched, "sends") - random.unmatched_sends ==
            counter(graph.unmatched, "receives") - random.unmatched_receives);
  RC_ASSERT(graph.edges.size() <= complete || random.unmatched_sends > 0 ||
            random.unmatched_receives > 0);
}

RC_GTEST_PROP(Match, nodes_are_the_distinct_stamps, ()) {
  const TracePlan plan = *any_plan();
  const RandomTrace random = random_trace(plan);
  const match::Graph graph = graph_of(random, plan);
  const ReferenceProblem problem = reference_problem(random);
  RC_ASSERT(graph.first_node == problem.first_node);
  RC_ASSERT(graph.stamp == problem.stamp);
  RC_ASSERT(graph.granule == problem.granule);
  RC_ASSERT(graph.process_of == random.trace.definitions.process_of);
  RC_ASSERT(graph.node_of == random.trace.definitions.node_of);
}

RC_GTEST_PROP(Match, edges_are_sorted_and_know_their_class, ()) {
  const TracePlan plan = *any_plan();
  const RandomTrace random = random_trace(plan);
  const match::Graph graph = graph_of(random, plan);
  RC_ASSERT(std::is_sorted(
      graph.edges.begin(), graph.edges.end(),
      [](const match::Edge& a, const match::Edge& b) { return a.receive < b.receive; }));
  std::vector<LocationIndex> location_of;
  for (LocationIndex l = 0; l < graph.location_count(); ++l) {
    location_of.insert(location_of.end(), graph.first_node[l + 1] - graph.first_node[l], l);
  }
  for (const match::Edge& edge : graph.edges) {
    const LocationIndex s = location_of[edge.send], r = location_of[edge.receive];
    RC_ASSERT(s != r);
    RC_ASSERT(edge.latency_class == graph.latency_class(s, r));
  }
}

RC_GTEST_PROP(Match, does_not_depend_on_the_order_of_locations, ()) {
  const TracePlan plan = *any_plan();
  const RandomTrace random = random_trace(plan);
  std::vector<LocationIndex> position(random.trace.locations.size());
  for (LocationIndex i = 0; i < position.size(); ++i) {
    position[i] = static_cast<LocationIndex>(position.size()) - 1 - i;
  }
  const RandomTrace moved = permuted(random, position);
  RC_ASSERT(expanded(graph_of(moved, plan)) == moved.edges);
}

TEST(Match, hundreds_of_locations) {
  TracePlan plan;
  plan.seed = 11;
  plan.processes = 100;
  plan.threads = 3;
  plan.sub_comms = 3;
  plan.inter_comms = 2;
  plan.steps = 150;
  plan.shuffle_locations = true;
  plan.init_finalize = true;
  const RandomTrace random = random_trace(plan);
  EXPECT_EQ(expanded(graph_of(random, plan)), random.edges);
}

}  // namespace
}  // namespace entrain::test
