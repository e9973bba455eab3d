// SPDX-License-Identifier: BSD-3-Clause
#include "match/builder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "match/testing.hpp"

namespace entrain::match {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using testing::TraceBuilder;
using trace::EventKind;

/// A builder in a team of one.
struct Alone {
  explicit Alone(const TraceBuilder& b, const Options& options = {},
                 const Progress* progress = nullptr)
      : trace(b.trace()),
        partition(trace::undivided(trace.definitions)),
        builder({solo, partition, trace}, options, progress) {}

  Solo solo;
  trace::Trace trace;
  trace::Partition partition;
  Builder builder;
};

/// Location 0 sends to location 1 at 100 and at 200; location 1 receives at 150 and at 250.
TraceBuilder two_messages() {
  TraceBuilder b(2);
  b.message(EventKind::send, 0, 100, 1);
  b.message(EventKind::send, 0, 200, 1);
  b.message(EventKind::recv, 1, 150, 0);
  b.message(EventKind::recv, 1, 250, 0);
  return b;
}

TEST(Builder, keeps_the_stamps_that_an_edge_touches) {
  TraceBuilder b(2);
  for (const std::uint64_t time : {10, 20, 20, 30}) b.add(0, time, EventKind::send);
  b.add(1, 25, EventKind::recv);
  Alone alone(b);
  alone.builder.add_edge(EdgeKind::p2p, EventRef{0, 2}, EventRef{1, 0});
  const Graph graph = alone.builder.finish();
  EXPECT_THAT(graph.stamp, ElementsAre(20, 25));
  EXPECT_THAT(graph.first_node, ElementsAre(0, 1, 2));
  ASSERT_EQ(graph.edges.size(), 1u);
  EXPECT_EQ(graph.edges[0].send, 0u);
  EXPECT_EQ(graph.edges[0].receive, 1u);
}

TEST(Builder, can_keep_every_stamp) {
  TraceBuilder b(1);
  for (const std::uint64_t time : {10, 20, 20, 30}) b.add(0, time, EventKind::send);
  Alone alone(b, {.every_event = true});
  EXPECT_THAT(alone.builder.finish().stamp, ElementsAre(10, 20, 30));
}

TEST(Builder, relations_inside_a_location_are_left_out) {
  TraceBuilder b(2);
  b.add(0, 10, EventKind::send);
  b.add(0, 20, EventKind::recv);
  Alone alone(b);
  Builder& builder = alone.builder;
  builder.add_edge(EdgeKind::p2p, EventRef{0, 0}, EventRef{0, 1});
  const Participant begin = builder.participant(EventRef{0, 0});
  const Participant end = builder.participant(EventRef{0, 1});
  builder.add_exchange(EdgeKind::n_to_n, false, {&begin, 1}, {&end, 1});
  builder.add_exchange(EdgeKind::n_to_n, false, {&begin, 1}, {});
  const Graph graph = builder.finish();
  EXPECT_THAT(graph.edges, IsEmpty());
  EXPECT_THAT(graph.exchanges, IsEmpty());
  EXPECT_EQ(graph.node_count(), 0u);
}

TEST(Builder, edges_are_sorted_by_receive_and_then_send) {
  TraceBuilder b(3);
  for (const std::uint64_t time : {10, 20}) {
    for (const LocationIndex l : {0u, 1u, 2u}) b.add(l, time, EventKind::send);
  }
  Alone alone(b);
  alone.builder.add_edge(EdgeKind::p2p, EventRef{1, 1}, EventRef{2, 1});
  alone.builder.add_edge(EdgeKind::p2p, EventRef{0, 0}, EventRef{2, 1});
  alone.builder.add_edge(EdgeKind::p2p, EventRef{1, 0}, EventRef{2, 0});
  const Graph graph = alone.builder.finish();
  std::vector<std::pair<NodeIndex, NodeIndex>> edges;
  for (const Edge& edge : graph.edges) edges.emplace_back(edge.receive, edge.send);
  // Nodes: 0 of location 0, 1 and 2 of location 1, 3 and 4 of location 2.
  EXPECT_THAT(edges, ElementsAre(Pair(3, 1), Pair(4, 0), Pair(4, 2)));
}

TEST(Builder, an_empty_trace_gives_an_empty_graph) {
  Alone alone(TraceBuilder(0));
  ASSERT_TRUE(alone.builder.agree());
  const Graph graph = alone.builder.finish();
  EXPECT_EQ(graph.location_count(), 0u);
  EXPECT_EQ(graph.node_count(), 0u);
}

TEST(Builder, the_parts_of_a_team_are_those_of_the_example) {
  const TraceBuilder b = two_messages();
  const trace::Partition partition{{0, 1}};
  const auto done = run_team(2, [&](Team& team) -> Result<void> {
    const auto graph = build_graph({team, partition, b.trace()}, {});
    if (!graph) return tl::unexpected<Error>(graph.error());
    if (team.rank() == 0) {
      EXPECT_THAT(graph->stamp, ElementsAre(100, 200));
      EXPECT_THAT(graph->first_node, ElementsAre(0, 2, 2));
      EXPECT_THAT(graph->edges, IsEmpty());
      EXPECT_THAT(graph->halo.shown_to[1], ElementsAre(0, 1));
    } else {
      EXPECT_THAT(graph->stamp, ElementsAre(150, 250));
      EXPECT_THAT(graph->first_node, ElementsAre(0, 0, 2));
      EXPECT_THAT(graph->halo.ghosts_of[0], ElementsAre(2, 3));
      EXPECT_EQ(graph->halo.ghosts[1].location, 0u);
      EXPECT_EQ(graph->halo.ghosts[1].node, 1u);
      EXPECT_EQ(graph->edges[0].send, 2u);
      EXPECT_EQ(graph->edges[0].receive, 0u);
      EXPECT_EQ(graph->edges[1].send, 3u);
      EXPECT_EQ(graph->edges[1].receive, 1u);
    }
    return {};
  });
  EXPECT_TRUE(done);
}

TEST(Builder, a_peer_is_a_process_of_the_other_group_of_an_inter_communicator) {
  TraceBuilder b(3);
  const CommIndex inter = b.inter_comm({0}, {1, 2});
  const CommIndex self = b.self_comm();
  const CommIndex unresolved = b.comm({0, k_none});
  Alone alone(b);
  const Builder& builder = alone.builder;
  EXPECT_EQ(builder.process_of_peer(inter, 0, 1), 2u);
  EXPECT_EQ(builder.process_of_peer(inter, 2, 0), 0u);
  EXPECT_EQ(builder.process_of_peer(self, 2, 7), 2u);
  EXPECT_EQ(builder.process_of_peer(unresolved, 0, 1), k_none);
  EXPECT_EQ(builder.process_of_peer(unresolved, 0, 2), k_none);
  EXPECT_EQ(builder.process_of_peer(k_none, 0, 0), k_none);
}

TEST(Builder, counters_of_one_name_are_one_and_zeros_are_left_out) {
  Alone alone(TraceBuilder(1));
  alone.builder.count_unmatched("sends", 2);
  alone.builder.count_unmatched("sends");
  alone.builder.count_unmatched("receives", 0);
  alone.builder.count_skipped("locks", 4);
  const Graph graph = alone.builder.finish();
  EXPECT_THAT(graph.unmatched, ElementsAre(Pair("sends", 3)));
  EXPECT_THAT(graph.skipped, ElementsAre(Pair("locks", 4)));
}

TEST(Builder, too_many_operations_are_an_error_for_all) {
  Alone alone(TraceBuilder(1));
  EXPECT_TRUE(alone.builder.countable(1'000'000));
  EXPECT_TRUE(alone.builder.agree());
  EXPECT_FALSE(alone.builder.countable(std::uint64_t{1} << 32));
  const auto refused = alone.builder.agree();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::input);
}

TEST(Builder, a_cancelled_member_cancels_all) {
  struct Stop final : Progress {
    void begin(std::string_view, std::uint64_t, std::string_view) override {}
    void advance(std::uint64_t) override {}
    [[nodiscard]] bool cancelled() const override { return true; }
  } stop;
  const TraceBuilder b = two_messages();
  const trace::Partition partition{{0, 1}};
  const auto done = run_team(2, [&](Team& team) -> Result<void> {
    Builder builder({team, partition, b.trace()}, {}, team.rank() == 1 ? &stop : nullptr);
    const auto refused = builder.agree();
    EXPECT_FALSE(refused);
    if (!refused) {
      EXPECT_EQ(refused.error().kind, ErrorKind::interrupted);
    }
    return {};
  });
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace entrain::match
