// SPDX-License-Identifier: BSD-3-Clause
#include "support/pairing.hpp"

#include <algorithm>
#include <optional>

#include <gtest/gtest.h>

#include "match/graph.hpp"
#include "verify/relation.hpp"
#include "verify/testing.hpp"

namespace entrain::test {
namespace {

namespace vt = verify::testing;

constexpr const char* k_counters[] = {
    "sends",           "receives",     "ambiguous_receives", "messages_in_gaps",
    "ambiguous_calls", "calls_in_gaps"};

/// A team of threads, each of which has its own part of the trace.
class Members {
 public:
  Members(const trace::Trace& trace, unsigned count)
      : partition_(vt::dealt(trace.definitions, count, false)), count_(count) {
    for (unsigned m = 0; m < count; ++m) parts_.push_back(vt::part_of(trace, partition_, m));
  }
  /// Calls body(share) at every member.
  template <class Body>
  void run(Body body) const {
    const auto done = run_team(count_, [&](Team& team) -> Result<void> {
      body(trace::Share{team, partition_, parts_[team.rank()]});
      return {};
    });
    ASSERT_TRUE(done) << done.error().message;
  }
  [[nodiscard]] unsigned count() const { return count_; }
  [[nodiscard]] std::uint32_t owner(LocationIndex location) const {
    return partition_.owner[location];
  }

 private:
  trace::Partition partition_;
  unsigned count_;
  std::vector<trace::Trace> parts_;  ///< per member
};

/// The claims of all members.
trace::Witness joined(const std::vector<match::Graph>& graphs) {
  trace::Witness all;
  for (const match::Graph& graph : graphs) {
    const trace::Witness& own = graph.witness;
    all.channels.insert(all.channels.end(), own.channels.begin(), own.channels.end());
    all.calls.insert(all.calls.end(), own.calls.begin(), own.calls.end());
    all.respects_clock_records = own.respects_clock_records;
  }
  all.sort();
  return all;
}

}  // namespace

void showValue(const Pairing& pairing, std::ostream& out) {
  for (const auto& [name, count] : pairing.left) out << name << ' ' << count << '\n';
  for (const TrueEdge& edge : pairing.edges) out << edge << '\n';
}

Pairing by_corrector(const trace::Trace& trace, bool dense_alltoallv, unsigned count,
                     trace::Witness* witness) {
  const Members members(trace, count);
  std::vector<match::Graph> graphs(count);
  members.run([&](const trace::Share& share) {
    auto graph = match::build_graph(share, {.dense_alltoallv = dense_alltoallv});
    if (graph) graphs[share.team.rank()] = std::move(*graph);
  });
  const auto stamp = [&](const match::Graph& graph, NodeIndex node) {
    if (!graph.is_ghost(node)) return graph.stamp[node];
    const match::Ghost& ghost = graph.halo.ghosts[node - graph.own_count()];
    return graphs[members.owner(ghost.location)].stamp[ghost.node];
  };
  Pairing pairing;
  for (const match::Graph& graph : graphs) {
    const auto add = [&](NodeIndex send, NodeIndex receive, EdgeKind kind) {
      const LocationIndex from = graph.location_of(send), to = graph.location_of(receive);
      if (from == to) return;
      pairing.edges.push_back({from, stamp(graph, send), to, stamp(graph, receive), kind});
    };
    for (const match::Edge& edge : graph.edges) add(edge.send, edge.receive, edge.kind);
    for (const match::Exchange& exchange : graph.exchanges) {
      for (const match::Participant& send : graph.sends(exchange)) {
        for (const match::Participant& receive : graph.receives(exchange)) {
          if (exchange.ordered && send.order >= receive.order) continue;
          add(send.node, receive.node, exchange.kind);
        }
      }
    }
    for (const char* name : k_counters) {
      pairing.left[name] += static_cast<std::int64_t>(count_of(graph.unmatched, name));
    }
  }
  if (witness != nullptr) *witness = joined(graphs);
  std::sort(pairing.edges.begin(), pairing.edges.end());
  return pairing;
}

Pairing by_checker(const trace::Trace& trace, AlltoallvRule alltoallv, unsigned count,
                   const trace::Witness* witness) {
  const Members members(trace, count);
  const std::vector<ClockMap> maps(trace.locations.size());
  std::vector<std::optional<verify::Relation>> relations(count);
  members.run([&](const trace::Share& share) {
    auto relation = verify::Relation::build(
        share, maps, alltoallv,
        {.witness = witness,
         .find = [](const trace::Share& all,
                    bool missing) { return match::find_witness(all, missing, 1, nullptr); },
         .same_clock_records = witness == nullptr},
        Cancel(nullptr));
    EXPECT_TRUE(relation) << relation.error().message;
    if (relation) relations[share.team.rank()].emplace(std::move(*relation));
  });
  if (!relations.front()) return {};
  Pairing pairing;
  const auto stamp = [&](verify::EventRef ref) {
    return trace.locations[ref.location].events[ref.event].time;
  };
  const auto add = [&](verify::EventRef send, verify::EventRef receive, EdgeKind kind) {
    if (send.location == receive.location || kind == EdgeKind::init_finalize) return;
    pairing.edges.push_back({send.location, stamp(send), receive.location, stamp(receive), kind});
  };
  for (const auto& relation : relations) {
    relation->for_each_pair(
        [&](const verify::Pair& pair) { add(pair.send, pair.receive, pair.kind); });
    relation->for_each_instance([&](const verify::Instance& instance) {
      for (const verify::Moment& send : instance.sends) {
        for (const verify::Moment& receive : instance.receives) {
          if (instance.ordered && send.rank >= receive.rank) continue;
          add(send.event, receive.event, instance.kind);
        }
      }
    });
  }
  const verify::Unmatched& left = relations.front()->unmatched();  // sums over all members
  pairing.left["sends"] = left.sends;
  pairing.left["receives"] = left.receives;
  pairing.left["ambiguous_receives"] = left.ambiguous;
  pairing.left["messages_in_gaps"] = left.in_gaps;
  pairing.left["ambiguous_calls"] = left.ambiguous_calls;
  pairing.left["calls_in_gaps"] = left.calls_in_gaps;
  std::sort(pairing.edges.begin(), pairing.edges.end());
  return pairing;
}

}  // namespace entrain::test
