// SPDX-License-Identifier: BSD-3-Clause
#include "net/plan/planner.hpp"

#include <algorithm>

namespace entrain::net {

Planner::Planner(const Topology& topology, const SpanningTree& tree)
    : topology_(topology), tree_(tree), ordinal_(topology.nodes().size(), k_none) {
  for (InterfaceIndex i = 0; i < topology.interfaces().size(); ++i)
    ordinal_[topology.interfaces()[i]] = i;
}

Femtoseconds Planner::delay_above(NodeIndex node) const {
  const ChannelIndex channel = topology_.channel(node, tree_.parent(node));
  return topology_.links()[channel / 2].delay.value_or(Femtoseconds(0));
}

void Planner::add(std::int64_t slot, InterfaceIndex source, InterfaceIndex destination) {
  const std::uint64_t key = (std::uint64_t{source} << 32) | destination;
  auto [found, is_new] = routes_.try_emplace(key);
  if (is_new) {
    const auto route = tree_.route(node_of(source), node_of(destination));
    auto& nodes = schedule_.route_nodes;
    found->second.first = static_cast<std::uint32_t>(nodes.size());
    nodes.insert(nodes.end(), route.begin(), route.end());
    found->second.second = static_cast<std::uint32_t>(nodes.size());
  }
  const auto [begin, end] = found->second;
  schedule_.messages.push_back({slot, source, destination, begin, end});
}

void Planner::add_bbp(std::span<const InterfaceIndex> group, std::int64_t start) {
  const auto n = static_cast<std::int64_t>(group.size());
  if (n < 2) return;
  for (std::int64_t t = 0; t < n; ++t) {
    for (std::int64_t i = 0; i < n; ++i) {
      const auto d = static_cast<std::size_t>(bbp_destination(i, t, n));
      add(start + t, group[static_cast<std::size_t>(i)], group[d]);
    }
  }
}

Schedule Planner::take() {
  std::sort(schedule_.messages.begin(), schedule_.messages.end(),
            [](const Message& a, const Message& b) {
              return a.slot != b.slot ? a.slot < b.slot : a.source < b.source;
            });
  if (!schedule_.messages.empty()) schedule_.slots = schedule_.messages.back().slot + 1;
  return std::move(schedule_);
}

}  // namespace entrain::net
