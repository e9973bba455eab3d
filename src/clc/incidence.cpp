// SPDX-License-Identifier: BSD-3-Clause
#include "clc/incidence.hpp"

namespace entrain::clc {

NodeLists::NodeLists(std::size_t node_count,
                     std::span<const std::pair<NodeIndex, std::uint32_t>> pairs)
    : begin_(node_count + 1, 0), values_(pairs.size()) {
  for (const auto& [node, value] : pairs) ++begin_[node + 1];
  for (std::size_t n = 0; n < node_count; ++n) begin_[n + 1] += begin_[n];
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end());
  for (const auto& [node, value] : pairs) values_[next[node]++] = value;
}

Incidence::Incidence(const match::Graph& graph) : exchange_of(graph.members.size(), k_none) {
  const std::size_t nodes = graph.node_count();
  std::vector<std::pair<NodeIndex, std::uint32_t>> pairs;
  pairs.reserve(graph.edges.size());
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) pairs.emplace_back(graph.edges[e].receive, e);
  in_edges = NodeLists(nodes, pairs);
  for (std::uint32_t e = 0; e < graph.edges.size(); ++e) pairs[e].first = graph.edges[e].send;
  out_edges = NodeLists(nodes, pairs);

  std::vector<std::pair<NodeIndex, std::uint32_t>> send_pairs;
  pairs.clear();
  for (std::uint32_t x = 0; x < graph.exchanges.size(); ++x) {
    const match::Exchange& exchange = graph.exchanges[x];
    for (std::uint32_t i = 0; i < exchange.send_count; ++i) {
      const std::uint32_t m = exchange.first_send + i;
      send_pairs.emplace_back(graph.members[m].node, m);
      exchange_of[m] = x;
    }
    for (std::uint32_t i = 0; i < exchange.receive_count; ++i) {
      const std::uint32_t m = exchange.first_receive + i;
      pairs.emplace_back(graph.members[m].node, m);
      exchange_of[m] = x;
    }
  }
  receives = NodeLists(nodes, pairs);
  sends = NodeLists(nodes, send_pairs);

  location_of.resize(nodes);
  for (LocationIndex l = 0; l < graph.location_count(); ++l) {
    for (NodeIndex n = graph.first_node[l]; n < graph.first_node[l + 1]; ++n) location_of[n] = l;
  }
  for (std::size_t g = 0; g < graph.halo.ghosts.size(); ++g) {
    location_of[graph.own_count() + g] = graph.halo.ghosts[g].location;
  }
}

}  // namespace entrain::clc
