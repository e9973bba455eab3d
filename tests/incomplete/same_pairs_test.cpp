// SPDX-License-Identifier: BSD-3-Clause
//
// Where records are missing, the checker comes to the edges and counts of the corrector, although
// it shares no code with it.
#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "match/graph.hpp"
#include "session/load.hpp"
#include "sim/drop.hpp"
#include "support/random_plan.hpp"
#include "support/random_trace.hpp"
#include "verify/relation.hpp"
#include "verify/testing.hpp"

namespace entrain::test {
namespace {

namespace fs = std::filesystem;
namespace vt = verify::testing;

/// All edges with their ends by location and stamp, and what was left out.
struct Pairing {
  std::vector<TrueEdge> edges;
  std::map<std::string, std::int64_t> left;

  friend bool operator==(const Pairing&, const Pairing&) = default;
};

void showValue(const Pairing& pairing, std::ostream& out) {
  for (const auto& [name, count] : pairing.left) out << name << ' ' << count << '\n';
  for (const TrueEdge& edge : pairing.edges) out << edge << '\n';
}

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

/// The edges of the corrector.
Pairing by_corrector(const trace::Trace& trace, bool dense_alltoallv, unsigned count) {
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
  std::sort(pairing.edges.begin(), pairing.edges.end());
  return pairing;
}

/// The edges of the checker.
Pairing by_checker(const trace::Trace& trace, AlltoallvRule alltoallv, unsigned count) {
  const Members members(trace, count);
  const std::vector<ClockMap> maps(trace.locations.size());
  std::vector<std::optional<verify::Relation>> relations(count);
  members.run([&](const trace::Share& share) {
    auto relation =
        verify::Relation::build(share, maps, alltoallv, verify::Scope::everything, Cancel(nullptr));
    if (relation) relations[share.team.rank()].emplace(std::move(*relation));
  });
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

std::vector<DropOptions> losses(std::uint64_t seed) {
  std::vector<DropOptions> all(5);
  all[0].random = 0.001;
  all[1].random = 0.01;
  all[2].random = 0.1;
  all[3].windows = {0.1, 1.0 / 3};
  all[4].tail = {0.2, 0.5};
  for (DropOptions& options : all) options.seed = seed;
  return all;
}

/// Says what stretches are missing, as recorders that were switched off and truncated files do.
trace::Trace with_gaps(const sim::DroppedTrace& dropped) {
  trace::Trace trace = dropped.trace;
  for (LocationIndex l = 0; l < trace.locations.size(); ++l) {
    const auto& window = dropped.report.locations[l].window;
    if (window) trace.locations[l].gaps.push_back({window->begin, window->end});
    if (dropped.report.locations[l].end) trace.locations[l].truncated = true;
  }
  return trace;
}

TEST(SamePairs, of_recorded_truths) {
  std::size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(ENTRAIN_EXAMPLES_DIR) / "traces")) {
    if (entry.path().extension() != ".truth") continue;
    const auto loaded = session::load(entry.path(), 0, nullptr);
    ASSERT_TRUE(loaded) << loaded.error().message;
    for (const DropOptions& loss : losses(compared + 1)) {
      const auto dropped = sim::drop(loaded->trace, loss);
      ASSERT_TRUE(dropped);
      for (const trace::Trace& trace : {dropped->trace, with_gaps(*dropped)}) {
        const Pairing expected = by_corrector(trace, false, 1);
        EXPECT_GT(expected.left.at("sends") + expected.left.at("receives"), 0);
        const Pairing found = by_checker(trace, AlltoallvRule::ignore, compared % 2 == 0 ? 1 : 3);
        EXPECT_TRUE(found.edges == expected.edges)
            << entry.path() << ": " << found.edges.size() << " instead of " << expected.edges.size()
            << " edges";
        EXPECT_EQ(found.left, expected.left) << entry.path();
        ++compared;
      }
    }
  }
  EXPECT_GE(compared, 30u);
}

RC_GTEST_PROP(SamePairs, of_random_traces, ()) {
  TracePlan plan = *any_plan();
  plan.mismatched_collective = *flag();
  plan.unmatched = *flag();
  const RandomTrace random = random_trace(plan);
  const auto options = *rc::gen::elementOf(losses(plan.seed));
  const auto dropped = sim::drop(random.trace, options);
  RC_ASSERT(dropped.has_value());
  const trace::Trace trace = *flag() ? with_gaps(*dropped) : dropped->trace;
  const auto rule = plan.dense_alltoallv ? AlltoallvRule::dense : AlltoallvRule::ignore;
  const Pairing expected = by_corrector(trace, plan.dense_alltoallv, 1);
  RC_CLASSIFY(expected.left.at("messages_in_gaps") > 0, "in gaps");
  RC_CLASSIFY(expected.left.at("ambiguous_receives") > 0, "ambiguous");
  for (const auto& [name, count] : expected.left) RC_ASSERT(count >= 0);
  RC_ASSERT(by_checker(trace, rule, 1) == expected);
  RC_ASSERT(by_checker(trace, rule, 3) == expected);
  RC_ASSERT(by_corrector(trace, plan.dense_alltoallv, 3) == expected);
}

}  // namespace
}  // namespace entrain::test
