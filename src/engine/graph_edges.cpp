// SPDX-License-Identifier: BSD-3-Clause
#include "engine/graph_edges.hpp"

namespace entrain::engine {

void GraphEdges::for_each_edge(const std::function<void(const verify::NamedEdge&)>& use) const {
  LocationIndex receiver = 0;  // edges are sorted by receive node
  for (const match::Edge& edge : graph_.edges) {
    while (edge.receive >= graph_.first_node[receiver + 1]) ++receiver;
    use({.send = event_of(edge.send, graph_.location_of(edge.send)),
         .receive = event_of(edge.receive, receiver),
         .kind = edge.kind,
         .extra_mu = edge.pair == 0 ? 0 : graph_.extra_mu[edge.pair]});
  }
}

void GraphEdges::for_each_instance(
    const std::function<void(const verify::NamedInstance&)>& use) const {
  verify::NamedInstance instance;
  const auto fill = [&](std::span<const match::Participant> side,
                        std::vector<verify::NamedEnd>& ends) {
    ends.clear();
    for (const match::Participant& one : side) {
      ends.push_back({event_of(one.node, one.location), one.order});
    }
  };
  for (const match::Exchange& exchange : graph_.exchanges) {
    instance.kind = exchange.kind;
    instance.ordered = exchange.ordered;
    fill(graph_.sends(exchange), instance.begins);
    fill(graph_.receives(exchange), instance.ends);
    use(instance);
  }
}

}  // namespace entrain::engine
