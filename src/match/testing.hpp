// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <vector>

#include "match/graph.hpp"
#include "trace/testing.hpp"

/// Happened-before pairs in a form that tests can write down.
namespace entrain::match::testing {

using trace::testing::TraceBuilder;

/// An event: location and stamp.
struct At {
  LocationIndex location = k_none;
  std::uint64_t time = 0;
  friend auto operator<=>(const At&, const At&) = default;
};

/// `send` happened before `receive`.
struct Pair {
  At send, receive;
  friend auto operator<=>(const Pair&, const Pair&) = default;
};
using Pairs = std::vector<Pair>;

inline void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.send.location << '@' << pair.send.time << " -> " << pair.receive.location << '@'
       << pair.receive.time;
}

/// All pairs of one kind, exchanges written out, sorted.
inline Pairs pairs_of(const Graph& graph, EdgeKind kind) {
  Pairs pairs;
  const auto at = [&](NodeIndex node) {
    const auto next = std::upper_bound(graph.first_node.begin(), graph.first_node.end(), node);
    return At{static_cast<LocationIndex>(next - graph.first_node.begin() - 1), graph.stamp[node]};
  };
  for (const Edge& edge : graph.edges) {
    if (edge.kind == kind) pairs.push_back({at(edge.send), at(edge.receive)});
  }
  for (const Exchange& exchange : graph.exchanges) {
    if (exchange.kind != kind) continue;
    for (const Participant& send : graph.sends(exchange)) {
      for (const Participant& receive : graph.receives(exchange)) {
        if (send.location == receive.location) continue;
        if (exchange.ordered && send.order >= receive.order) continue;
        pairs.push_back({at(send.node), at(receive.node)});
      }
    }
  }
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

/// The same of a trace.
inline Pairs pairs_of(const TraceBuilder& builder, EdgeKind kind, const Options& options = {}) {
  return pairs_of(build_graph(builder.trace(), options), kind);
}

/// Number of pairs of all kinds.
inline std::size_t pair_count(const Graph& graph) {
  std::size_t count = 0;
  for (std::size_t kind = 0; kind < k_edge_kinds; ++kind) {
    count += pairs_of(graph, static_cast<EdgeKind>(kind)).size();
  }
  return count;
}

}  // namespace entrain::match::testing
