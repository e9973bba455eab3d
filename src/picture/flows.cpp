// SPDX-License-Identifier: BSD-3-Clause
#include "picture/flows.hpp"

#include <algorithm>
#include <utility>

#include "match/extremes.hpp"
#include "verify/pair_counts.hpp"

namespace entrain::picture {

namespace {

/// The begins after which an end can come at the earliest: that of any location, and of another
/// one.
class LatestBegins {
 public:
  void clear() { first_ = second_ = {}; }
  void add(const match::Participant& begin, std::int64_t time) {
    if (time == match::k_no_demand) return;
    const Begin one{&begin, time};
    if (first_.who == nullptr || time > first_.time) {
      if (first_.who != nullptr && first_.who->location != begin.location) second_ = first_;
      first_ = one;
    } else if (begin.location != first_.who->location &&
               (second_.who == nullptr || time > second_.time)) {
      second_ = one;
    }
  }
  /// The latest begin of another location; null if there is none.
  [[nodiscard]] const match::Participant* without(LocationIndex location) const {
    return first_.who != nullptr && first_.who->location == location ? second_.who : first_.who;
  }

 private:
  struct Begin {
    const match::Participant* who = nullptr;
    std::int64_t time = 0;
  };
  Begin first_, second_;
};

std::int64_t margin_of(const Times& times, NodeIndex from, NodeIndex to) {
  return verify::margin(times.of_node[to], times.of_node[from]);
}

void add_exchange(const match::Graph& graph, const match::Exchange& exchange, const Times& times,
                  BigVector<Flow>& flows) {
  const auto sends = graph.sends(exchange);
  LatestBegins latest;
  std::size_t added = 0;
  for (const match::Participant& end : graph.receives(exchange)) {
    while (added < sends.size() && (!exchange.ordered || sends[added].order < end.order)) {
      latest.add(sends[added], times.of_node[sends[added].node]);
      ++added;
    }
    const match::Participant* const begin = latest.without(end.location);
    if (begin == nullptr) continue;
    const auto latency = graph.latency_class(begin->location, end.location);
    flows.push_back({.from = begin->node,
                     .to = end.node,
                     .kind = exchange.kind,
                     .margin = margin_of(times, begin->node, end.node),
                     .bound = times.mu[static_cast<std::size_t>(latency)]});
  }
}

}  // namespace

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

BigVector<Flow> flows_of(const match::Graph& graph, const Times& times) {
  BigVector<Flow> flows;
  for (const match::Edge& edge : graph.edges) {
    flows.push_back({.from = edge.send,
                     .to = edge.receive,
                     .kind = edge.kind,
                     .margin = margin_of(times, edge.send, edge.receive),
                     .bound = graph.mu_of(edge, times.mu)});
  }
  for (const match::Exchange& exchange : graph.exchanges) {
    add_exchange(graph, exchange, times, flows);
  }
  return flows;
}

std::vector<std::uint64_t> worst_flows(std::span<const Flow> flows, std::size_t most) {
  using Rank = std::pair<std::int64_t, std::uint64_t>;
  std::vector<Rank> worst;  // a heap with the best one of them on top
  for (std::uint64_t i = 0; i < flows.size() && most > 0; ++i) {
    const Rank rank{verify::margin(flows[i].margin, flows[i].bound), i};
    if (worst.size() == most) {
      if (!(rank < worst.front())) continue;
      std::pop_heap(worst.begin(), worst.end());
      worst.pop_back();
    }
    worst.push_back(rank);
    std::push_heap(worst.begin(), worst.end());
  }
  std::sort(worst.begin(), worst.end());
  std::vector<std::uint64_t> found;
  for (const Rank& rank : worst) found.push_back(rank.second);
  return found;
}

}  // namespace entrain::picture
