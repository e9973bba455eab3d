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

Incidence::Incidence(const match::Graph& graph, const std::vector<bool>& left_out)
    : in_edges(graph), exchange_of(graph.participants.size(), k_none) {
  const std::size_t nodes = graph.node_count();
  const auto for_exchanges = [&](auto body) {
    for (std::uint32_t x = 0; x < graph.exchanges.size(); ++x) {
      if (left_out.empty() || !left_out[x]) body(graph.exchanges[x], x);
    }
  };
  const auto for_participants = [&](std::uint32_t first, std::uint32_t count, auto body) {
    for (std::uint32_t m = first; m < first + count; ++m) body(graph.participants[m].node, m);
  };
  receives = NodeLists(nodes, [&](auto body) {
    for_exchanges([&](const match::Exchange& x, std::uint32_t) {
      for_participants(x.first_receive, x.receive_count, body);
    });
  });
  sends = NodeLists(nodes, [&](auto body) {
    for_exchanges([&](const match::Exchange& x, std::uint32_t) {
      for_participants(x.first_send, x.send_count, body);
    });
  });
  for_exchanges([&](const match::Exchange& exchange, std::uint32_t x) {
    const auto set = [&](NodeIndex, std::uint32_t m) { exchange_of[m] = x; };
    for_participants(exchange.first_send, exchange.send_count, set);
    for_participants(exchange.first_receive, exchange.receive_count, set);
  });
}

}  // namespace entrain::clc
