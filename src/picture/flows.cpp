// SPDX-License-Identifier: BSD-3-Clause
#include "picture/flows.hpp"

#include <algorithm>
#include <utility>

#include "base/exact.hpp"
#include "match/deciding_pairs.hpp"

namespace entrain::picture {

Family family_of(EdgeKind kind) {
  switch (kind) {
    case EdgeKind::p2p:
      return Family::message;
    case EdgeKind::thread:
      return Family::thread;
    case EdgeKind::rma:
      return Family::one_sided;
    default:
      return Family::collective;
  }
}

BigVector<Flow> flows_of(const match::Graph& graph, std::span<const std::int64_t> times,
                         const MuTicks& mu) {
  BigVector<Flow> flows;
  for (const match::Edge& edge : graph.edges) {
    flows.push_back({.from = edge.send,
                     .to = edge.receive,
                     .kind = edge.kind,
                     .margin = margin(times[edge.receive], times[edge.send]),
                     .bound = graph.mu_of(edge, mu)});
  }
  for (const match::Exchange& exchange : graph.exchanges) {
    match::for_deciding_pairs(graph, exchange, times, [&](const auto& begin, const auto& end) {
      const auto latency = graph.latency_class(begin.location, end.location);
      flows.push_back({.from = begin.node,
                       .to = end.node,
                       .kind = exchange.kind,
                       .margin = margin(times[end.node], times[begin.node]),
                       .bound = mu[static_cast<std::size_t>(latency)]});
    });
  }
  return flows;
}

std::vector<std::uint64_t> worst_flows(std::span<const Flow> flows, std::size_t most) {
  using Rank = std::pair<std::int64_t, std::uint64_t>;
  std::vector<Rank> worst;  // a heap with the best one of them on top
  for (std::uint64_t i = 0; i < flows.size() && most > 0; ++i) {
    const Rank rank{margin(flows[i].margin, flows[i].bound), i};
    if (worst.size() == most) {
      if (!(rank < worst.front())) continue;
      std::pop_heap(worst.begin(), worst.end());
      worst.pop_back();
    }
    worst.push_back(rank);
    std::push_heap(worst.begin(), worst.end());
  }
  std::ranges::sort(worst);
  std::vector<std::uint64_t> found;
  for (const Rank& rank : worst) found.push_back(rank.second);
  return found;
}

}  // namespace entrain::picture
