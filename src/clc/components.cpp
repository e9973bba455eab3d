// SPDX-License-Identifier: BSD-3-Clause
#include "clc/components.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace entrain::clc {

std::uint64_t drop_inner_edges(match::Graph& graph, std::span<const TiedNodes> components) {
  std::vector<std::uint32_t> component_of(graph.node_count(), k_none);
  for (std::uint32_t c = 0; c < components.size(); ++c) {
    for (const NodeIndex n : components[c].nodes) component_of[n] = c;
  }
  std::uint64_t dropped = std::erase_if(graph.edges, [&](const match::Edge& edge) {
    return component_of[edge.send] != k_none &&
           component_of[edge.send] == component_of[edge.receive];
  });
  // An exchange of S and R some of whose participants lie in component c becomes all of S before
  // the R outside, and the S outside of c before the R inside.
  BigVector<match::Exchange> exchanges;
  for (const match::Exchange& exchange : graph.exchanges) {
    const auto sends = graph.sends(exchange);
    const auto receives = graph.receives(exchange);
    const std::vector<match::Participant> all_sends(sends.begin(), sends.end());
    std::set<std::uint32_t> sending;
    for (const match::Participant& send : sends) sending.insert(component_of[send.node]);
    sending.erase(k_none);
    std::vector<match::Participant> outside;
    std::map<std::uint32_t, std::vector<match::Participant>> inside;  // by component
    for (const match::Participant& receive : receives) {
      const std::uint32_t c = component_of[receive.node];
      (sending.contains(c) ? inside[c] : outside).push_back(receive);
    }
    if (inside.empty()) {
      exchanges.push_back(exchange);
      continue;
    }
    const auto add = [&](const std::vector<match::Participant>& s,
                         const std::vector<match::Participant>& r) {
      if (s.empty() || r.empty()) return;
      match::Exchange part = exchange;
      part.first_send = static_cast<std::uint32_t>(graph.participants.size());
      part.send_count = static_cast<std::uint32_t>(s.size());
      graph.participants.insert(graph.participants.end(), s.begin(), s.end());
      part.first_receive = static_cast<std::uint32_t>(graph.participants.size());
      part.receive_count = static_cast<std::uint32_t>(r.size());
      graph.participants.insert(graph.participants.end(), r.begin(), r.end());
      exchanges.push_back(part);
    };
    add(all_sends, outside);
    for (const auto& [c, own] : inside) {
      std::vector<match::Participant> other = all_sends;
      const std::size_t removed =
          std::erase_if(other, [&, apart = c](const match::Participant& send) {
            return component_of[send.node] == apart;
          });
      dropped += removed * own.size();
      add(other, own);
    }
  }
  graph.exchanges.swap(exchanges);
  return dropped;
}

std::size_t first_not_below(std::span<const match::Participant> side, std::uint32_t order) {
  const auto found = std::ranges::lower_bound(side, order, {}, &match::Participant::order);
  return static_cast<std::size_t>(found - side.begin());
}

}  // namespace entrain::clc
