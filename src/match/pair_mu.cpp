// SPDX-License-Identifier: BSD-3-Clause
#include <map>

#include "match/graph.hpp"

namespace entrain::match {

void set_pair_mu(Graph& graph, const trace::PairMu& pairs, const MuTicks& mu) {
  std::map<trace::PairMu::Key, std::uint16_t> number;
  graph.extra_mu.assign(1, 0);
  for (const auto& [machines, ticks] : pairs.all()) {
    const auto of_class = static_cast<std::size_t>(
        machines.first == machines.second ? LatencyClass::same_node : LatencyClass::other);
    if (ticks <= mu[of_class]) continue;
    number.emplace(machines, static_cast<std::uint16_t>(graph.extra_mu.size()));
    graph.extra_mu.push_back(ticks - mu[of_class]);
  }
  if (number.empty()) return;
  for (Edge& edge : graph.edges) {
    if (edge.kind != EdgeKind::p2p || edge.latency_class == LatencyClass::same_process) continue;
    const auto found =
        number.find(trace::PairMu::key(graph.node_of[graph.location_of(edge.send)],
                                       graph.node_of[graph.location_of(edge.receive)]));
    if (found != number.end()) edge.pair = found->second;
  }
}

}  // namespace entrain::match
