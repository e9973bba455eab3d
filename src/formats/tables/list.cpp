// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/list.hpp"

#include <algorithm>

#include "match/parts.hpp"

namespace entrain::tables {

EdgeList list_of(const match::Graph& graph, const MuTicks& mu) {
  EdgeList list;
  const bool delays = mu != MuTicks{} || !graph.extra_mu.empty();
  const std::span<const std::uint64_t> stamps = graph.stamp;
  const auto add = [&](const match::Edge& edge, LocationIndex from, LocationIndex to) {
    list.cause_clock.push_back(from);
    list.cause_time.push_back(graph.stamp[edge.send]);
    list.effect_clock.push_back(to);
    list.effect_time.push_back(graph.stamp[edge.receive]);
    list.kind.push_back(edge.kind);
    if (delays) list.min_delay.push_back(graph.mu_of(edge, mu));
  };
  match::for_edges(graph, {graph.edges, {}}, stamps, add);
  for (const match::Exchange& exchange : graph.exchanges) {
    list.instances.push_back({.kind = exchange.kind,
                              .first = list.members.size(),
                              .begins = exchange.send_count,
                              .ends = exchange.receive_count});
    for (const auto side : {graph.sends(exchange), graph.receives(exchange)}) {
      for (const match::Participant& one : side) {
        list.members.push_back({one.location, one.order, graph.stamp[one.node]});
      }
    }
  }
  return list;
}

}  // namespace entrain::tables
