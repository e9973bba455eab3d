// SPDX-License-Identifier: BSD-3-Clause
#include "clc/incidence.hpp"

namespace entrain::clc {

InEdges::InEdges(const match::Graph& graph)
    : edges_(graph.edges.data()), filled_(graph.node_count()) {
  for (const match::Edge& edge : graph.edges) filled_.set(edge.receive);
  filled_.seal();
  begin_.reserve(filled_.count() + 1);
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
    if (e == 0 || graph.edges[e].receive != graph.edges[e - 1].receive) begin_.push_back(e);
  }
  begin_.push_back(static_cast<std::uint32_t>(graph.edges.size()));
}

NodeLists out_edges(const match::Graph& graph) {
  return {graph.node_count(), [&](auto body) {
            for (std::uint32_t e = 0; e < graph.edges.size(); ++e) body(graph.edges[e].send, e);
          }};
}

Incidence::Incidence(const match::Graph& graph)
    : in_edges(graph), exchange_of(graph.participants.size(), k_none) {
  const std::size_t nodes = graph.node_count();
  const auto for_participants = [&](std::uint32_t first, std::uint32_t count, auto body) {
    for (std::uint32_t m = first; m < first + count; ++m) body(graph.participants[m].node, m);
  };
  receives = NodeLists(nodes, [&](auto body) {
    for (const match::Exchange& x : graph.exchanges)
      for_participants(x.first_receive, x.receive_count, body);
  });
  sends = NodeLists(nodes, [&](auto body) {
    for (const match::Exchange& x : graph.exchanges)
      for_participants(x.first_send, x.send_count, body);
  });
  for (std::uint32_t x = 0; x < graph.exchanges.size(); ++x) {
    const match::Exchange& exchange = graph.exchanges[x];
    const auto set = [&](NodeIndex, std::uint32_t m) { exchange_of[m] = x; };
    for_participants(exchange.first_send, exchange.send_count, set);
    for_participants(exchange.first_receive, exchange.receive_count, set);
  }
}

}  // namespace entrain::clc
