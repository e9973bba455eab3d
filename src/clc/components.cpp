// SPDX-License-Identifier: BSD-3-Clause
#include "clc/components.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace entrain::clc {

std::uint64_t drop_inner_edges(match::Graph& graph, std::span<const std::uint32_t> component_of) {
  std::uint64_t dropped = std::erase_if(graph.edges, [&](const match::Edge& edge) {
    return component_of[edge.send] != k_none &&
           component_of[edge.send] == component_of[edge.receive];
  });
  for (const match::Exchange& exchange : std::exchange(graph.exchanges, {})) {
    const auto sends = graph.sends(exchange), receives = graph.receives(exchange);
    std::set<std::uint32_t> sending;
    for (const match::Participant& send : sends) sending.insert(component_of[send.node]);
    sending.erase(k_none);
    const auto component = [&](const match::Participant& one) { return component_of[one.node]; };
    if (std::ranges::none_of(receives,
                             [&](auto& one) { return sending.contains(component(one)); })) {
      graph.exchanges.push_back(exchange);
    } else {
      dropped += add_apart(graph, exchange, {sends.begin(), sends.end()},
                           {receives.begin(), receives.end()}, sending, component);
    }
  }
  return dropped;
}

std::uint64_t add_apart(match::Graph& graph, const match::Exchange& like, const Participants& sends,
                        const Participants& receives, const std::set<std::uint32_t>& apart,
                        const GroupOf& group_of) {
  const auto add = [&](const Participants& some_sends, const Participants& some_receives) {
    if (some_sends.empty() || some_receives.empty()) return;
    match::Exchange part = like;
    part.first_send = static_cast<std::uint32_t>(graph.participants.size());
    part.send_count = static_cast<std::uint32_t>(some_sends.size());
    graph.participants.insert(graph.participants.end(), some_sends.begin(), some_sends.end());
    part.first_receive = static_cast<std::uint32_t>(graph.participants.size());
    part.receive_count = static_cast<std::uint32_t>(some_receives.size());
    graph.participants.insert(graph.participants.end(), some_receives.begin(), some_receives.end());
    graph.exchanges.push_back(part);
  };
  Participants outside;
  std::map<std::uint32_t, Participants> inside;
  for (const match::Participant& receive : receives) {
    const std::uint32_t group = group_of(receive);
    (apart.contains(group) ? inside[group] : outside).push_back(receive);
  }
  add(sends, outside);
  std::uint64_t left_out = 0;
  for (const auto& [group, own] : inside) {
    Participants others = sends;
    const std::size_t removed = std::erase_if(
        others, [&, own_group = group](const auto& send) { return group_of(send) == own_group; });
    left_out += removed * own.size();
    add(others, own);
  }
  return left_out;
}

std::size_t first_not_below(std::span<const match::Participant> side, std::uint32_t order) {
  const auto found = std::ranges::lower_bound(side, order, {}, &match::Participant::order);
  return static_cast<std::size_t>(found - side.begin());
}

}  // namespace entrain::clc
