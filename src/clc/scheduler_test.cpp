// SPDX-License-Identifier: BSD-3-Clause
#include "clc/scheduler.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clc/components.hpp"
#include "clc/testing.hpp"

namespace entrain::clc {
namespace {

using ::testing::ElementsAre;
using trace::testing::TraceBuilder;
using K = trace::EventKind;

/// A member alone waits for nobody.
struct Nobody final : Scheduler::Others {
  [[nodiscard]] bool owe_demand(NodeIndex) const override { return false; }
  [[nodiscard]] bool owe_proposals(std::uint32_t) override { return false; }
  void answer_tied(NodeIndex) override {}
};

struct Scheduled {
  match::Graph graph;
  Incidence incidence;
  Cycles cycles = {};
  std::vector<Step> schedule;

  explicit Scheduled(const TraceBuilder& b, const match::Options& options = {})
      : graph(match::build_graph(b.trace(), options)), incidence(graph) {
    if (follow()) return;
    cycles = testing::settle_alone(graph);
    incidence = Incidence(graph);
    EXPECT_TRUE(follow());
  }

 private:
  /// Fills the schedule; false if nodes are left.
  bool follow() {
    schedule.clear();
    Nobody nobody;
    Scheduler scheduler(graph, incidence, cycles, nobody,
                        [&](const Step& step) { schedule.push_back(step); });
    scheduler.start();
    while (scheduler.work(1)) {
    }
    return scheduler.finished();
  }
};

/// Follows the steps of a schedule and fails where a node comes before something it waits for.
class Follower {
 public:
  explicit Follower(const Scheduled& s)
      : s_(s), done_(s.graph.node_count(), false), known_(s.graph.participants.size(), false) {
    for (const Step& step : s.schedule) {
      switch (step.kind) {
        case Step::Kind::run:
          for (NodeIndex n = step.begin; n < step.end; ++n) visit(n, k_none);
          break;
        case Step::Kind::exchange:
          release(step);
          break;
        case Step::Kind::tied: {
          const auto& nodes = s.cycles.tied[step.index].nodes;
          for (const NodeIndex n : nodes) visit(n, step.index);
          break;
        }
      }
    }
    for (NodeIndex n = 0; n < done_.size(); ++n) EXPECT_TRUE(done_[n]) << "node " << n;
  }

 private:
  [[nodiscard]] bool tied_to(NodeIndex node, std::uint32_t component) const {
    return component != k_none && s_.cycles.tied_of[node] == component;
  }

  void visit(NodeIndex n, std::uint32_t component) {
    EXPECT_FALSE(done_[n]) << "node " << n << " twice";
    const LocationIndex l = s_.graph.location_of(n);
    if (n > s_.graph.first_node[l]) {
      EXPECT_TRUE(done_[n - 1]) << "node " << n << " before its predecessor";
    }
    for (const match::Edge& edge : s_.incidence.in_edges.of(n)) {
      const NodeIndex send = edge.send;
      EXPECT_TRUE(done_[send] || tied_to(send, component)) << send << " -> " << n;
    }
    for (const std::uint32_t m : s_.incidence.receives.of(n)) {
      // Members of a component look at their senders themselves.
      if (component == k_none) {
        EXPECT_TRUE(known_[m]) << "demand on node " << n;
      } else {
        expect_senders(s_.incidence.exchange_of[m], s_.graph.participants[m], component);
      }
    }
    done_[n] = true;
  }

  void release(const Step& step) {
    for (std::uint32_t m = step.begin; m < step.end; ++m) {
      EXPECT_EQ(s_.incidence.exchange_of[m], step.index);
      expect_senders(step.index, s_.graph.participants[m], k_none);
      known_[m] = true;
    }
  }

  void expect_senders(std::uint32_t x, const match::Participant& receive, std::uint32_t component) {
    const match::Exchange& exchange = s_.graph.exchanges[x];
    for (const match::Participant& send : s_.graph.sends(exchange)) {
      if (send.location == receive.location) continue;
      if (exchange.ordered && send.order >= receive.order) continue;
      EXPECT_TRUE(done_[send.node] || tied_to(send.node, component))
          << send.node << " -> " << receive.node;
    }
  }

  const Scheduled& s_;
  std::vector<bool> done_;
  std::vector<bool> known_;  ///< per receive participant: its demand is known
};

TEST(Scheduler, a_location_alone_is_one_step) {
  TraceBuilder b(1);
  b.request(K::irecv_request, 0, 10, 1);
  b.request(K::irecv_request, 0, 20, 2);
  const Scheduled s(b, {.every_event = true});
  Follower{s};
  ASSERT_EQ(s.schedule.size(), 1u);
  EXPECT_EQ(s.schedule[0].end, 2u);
  EXPECT_TRUE(s.cycles.tied.empty());
  EXPECT_TRUE(s.cycles.tied_of.empty());
}

TEST(Scheduler, a_receive_comes_after_its_send_whatever_the_clocks_say) {
  // A token goes round in a ring twice; every clock is far behind that of the rank before.
  TraceBuilder b(4);
  for (std::uint64_t round = 0; round < 2; ++round) {
    for (LocationIndex l = 0; l < 4; ++l) {
      const std::uint64_t time = 10'000 - 1'000 * l + 100 * round;
      if (l > 0 || round > 0) b.message(K::recv, l, time, (l + 3) % 4);
      b.message(K::send, l, time + 50, (l + 1) % 4);
    }
  }
  const Scheduled s(b);
  Follower{s};
  EXPECT_TRUE(s.cycles.tied.empty());
  EXPECT_EQ(s.cycles.dropped_components, 0u);
}

TEST(Scheduler, example) {
  TraceBuilder b(2);
  b.message(K::send, 0, 10, 1);
  b.message(K::recv, 0, 40, 1);
  b.message(K::recv, 1, 20, 0);
  b.message(K::send, 1, 30, 0);
  const Scheduled s(b);
  std::vector<std::vector<std::uint32_t>> steps;
  for (const Step& step : s.schedule) steps.push_back({step.index, step.begin, step.end});
  EXPECT_THAT(steps, ElementsAre(ElementsAre(0, 0, 1), ElementsAre(1, 2, 4), ElementsAre(0, 1, 2)));
}

TEST(Scheduler, an_empty_graph_has_no_steps) {
  EXPECT_TRUE(Scheduled(TraceBuilder(3)).schedule.empty());
}

TEST(Scheduler, a_collective_end_comes_after_all_begins) {
  TraceBuilder b(3);
  b.message(K::send, 0, 100, 2);
  b.message(K::recv, 2, 10, 0);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 200 + l, 300, trace::op::allreduce);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 400, 500, trace::op::bcast, l);
  Follower{Scheduled(b)};
}

TEST(Scheduler, a_call_without_duration_is_no_cycle) {
  // Begin and end of every call share one node.
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 3; ++l) {
    b.collective(l, 100, l == 1 ? 100 : 110, trace::op::barrier);
  }
  const Scheduled s(b);
  Follower{s};
  EXPECT_TRUE(s.cycles.tied.empty());
}

TEST(Scheduler, scan_ends_are_released_in_the_order_of_ranks) {
  // Rank 1 sends to rank 2 after its scan, and rank 2 receives that before its own: possible only
  // if rank 1 does not wait for rank 2.
  TraceBuilder b(3);
  b.collective(0, 100, 110, trace::op::scan);
  b.collective(1, 100, 110, trace::op::scan);
  b.message(K::send, 1, 120, 2);
  b.message(K::recv, 2, 50, 1);
  b.collective(2, 100, 110, trace::op::scan);
  const Scheduled s(b);
  Follower{s};
  EXPECT_TRUE(s.cycles.tied.empty());
  EXPECT_EQ(s.cycles.dropped_components, 0u);
}

/// Two processes that send to and receive from each other: the receives `ahead` of the sends.
TraceBuilder crossed(std::uint64_t ahead, std::uint64_t granule) {
  TraceBuilder b(2);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.trace().locations[l].granule = granule;
    b.message(K::recv, l, 100, 1 - l);
    b.message(K::send, l, 100 + ahead, 1 - l);
  }
  return b;
}

TEST(Scheduler, equal_stamps_tie_nodes_together) {
  const Scheduled s(crossed(0, 0));
  Follower{s};
  ASSERT_EQ(s.cycles.tied.size(), 1u);
  EXPECT_THAT(s.cycles.tied[0].nodes, ElementsAre(0, 1));
  EXPECT_THAT(s.cycles.tied_of, ElementsAre(0, 0));
  EXPECT_EQ(s.cycles.dropped_edges, 0u);
  EXPECT_EQ(s.graph.edges.size(), 2u);
}

TEST(Scheduler, a_tie_may_span_two_granules) {
  const Scheduled s(crossed(20, 10));
  Follower{s};
  ASSERT_EQ(s.cycles.tied.size(), 1u);
  EXPECT_THAT(s.cycles.tied[0].nodes, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(s.cycles.dropped_components, 0u);
}

TEST(Scheduler, a_wider_cycle_is_a_matching_error_and_loses_its_edges) {
  const Scheduled s(crossed(21, 10));
  Follower{s};
  EXPECT_TRUE(s.cycles.tied.empty());
  EXPECT_EQ(s.cycles.dropped_components, 1u);
  EXPECT_EQ(s.cycles.dropped_edges, 2u);
  EXPECT_TRUE(s.graph.edges.empty());
  for (NodeIndex n = 0; n < 4; ++n) EXPECT_TRUE(s.incidence.in_edges.of(n).empty());
}

TEST(Scheduler, edges_outside_of_a_wide_cycle_stay) {
  TraceBuilder b = crossed(500, 1);
  b.message(K::send, 0, 700, 1);
  b.message(K::recv, 1, 650, 0);
  const Scheduled s(b);
  Follower{s};
  EXPECT_EQ(s.cycles.dropped_edges, 2u);
  EXPECT_EQ(s.graph.edges.size(), 1u);
}

TEST(Scheduler, a_dropped_collective_keeps_its_pairs_outside_the_cycle) {
  // Process 1 receives at 50, before its barrier at 200, a message that process 0 sent after the
  // barrier.
  TraceBuilder b(3);
  b.message(K::recv, 1, 50, 0);
  for (LocationIndex l = 0; l < 3; ++l) b.collective(l, 200, 300, trace::op::barrier);
  b.message(K::send, 0, 400, 1);
  const Scheduled s(b);
  Follower{s};
  EXPECT_EQ(s.cycles.dropped_components, 1u);
  // The cycle: send of 0 -> receive and begin of 1 -> end of 0. Only 0's end waits for 1 in it.
  EXPECT_EQ(s.cycles.dropped_edges, 2u);
  std::size_t pairs = 0;
  for (const match::Exchange& x : s.graph.exchanges) {
    for (const auto& send : s.graph.sends(x)) {
      for (const auto& receive : s.graph.receives(x)) pairs += send.location != receive.location;
    }
  }
  EXPECT_EQ(pairs, 5u);  // of 6
}

TEST(Scheduler, a_component_waits_for_what_comes_from_outside) {
  TraceBuilder b(3);
  for (LocationIndex l = 0; l < 2; ++l) {
    b.message(K::send, l, 100, 1 - l);
    b.message(K::recv, l, 100, 1 - l);
    b.message(K::recv, l, 100, 2);
    b.message(K::send, l, 200, 2);
  }
  b.message(K::send, 2, 500, 0);
  b.message(K::send, 2, 600, 1);
  b.message(K::recv, 2, 650, 0);
  b.message(K::recv, 2, 660, 1);
  const Scheduled s(b);
  Follower{s};
  ASSERT_EQ(s.cycles.tied.size(), 1u);
  EXPECT_THAT(s.cycles.tied[0].nodes, ElementsAre(0, 2));
}

TEST(Scheduler, a_collective_within_a_tick_may_be_tied_too) {
  // Both ends at 100, and a message back within the same tick.
  TraceBuilder b(2);
  b.message(K::recv, 0, 100, 1);
  b.collective(0, 100, 100, trace::op::bcast, 0);
  b.collective(1, 100, 100, trace::op::bcast, 0);
  b.message(K::send, 1, 100, 0);
  const Scheduled s(b);
  Follower{s};
  ASSERT_EQ(s.cycles.tied.size(), 1u);
}

}  // namespace
}  // namespace entrain::clc
