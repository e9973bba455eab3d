// SPDX-License-Identifier: BSD-3-Clause
#include "verify/order_graph.hpp"

#include <algorithm>
#include <numeric>

namespace entrain::verify {

namespace {

constexpr std::uint32_t k_peeled = 0xFFFFFFFFu;  ///< value in incoming_ of removed vertices
constexpr std::uint32_t k_closed = 0xFFFFFFFFu;  ///< index of vertices of finished components

}  // namespace

void OrderGraph::include(EventRef event) {
  Stretch& of = stretches_[event.location];
  if (of.first == k_none) touched_.push_back(event.location);
  of.first = std::min(of.first, event.event);
  of.last = std::max(of.last, event.event);
}

std::size_t OrderGraph::take(std::span<const ClusterEdge> edges) {
  edges_ = edges;
  for (const LocationIndex l : touched_) stretches_[l] = {};
  touched_.clear();
  for (const ClusterEdge& edge : edges_) {
    include(edge.from);
    include(edge.to);
  }
  std::sort(touched_.begin(), touched_.end());
  std::size_t next = 0;
  hubs_begin_ = k_none;
  for (const LocationIndex l : touched_) {
    stretches_[l].begin = static_cast<Vertex>(next);
    if (is_hub(l)) hubs_begin_ = std::min(hubs_begin_, stretches_[l].begin);
    next += std::size_t{stretches_[l].last} - stretches_[l].first + 1;
  }
  first_.assign(next + 1, 0);
  return next;
}

template <class Use>
void OrderGraph::for_each_arc(Use use) const {
  for (const ClusterEdge& edge : edges_) use(vertex(edge.from), vertex(edge.to));
  for (const LocationIndex l : touched_) {
    const Stretch& of = stretches_[l];
    const Vertex last = of.begin + (of.last - of.first);
    for (Vertex v = of.begin; v < last && !is_hub(l); ++v) use(v, v + 1);
  }
}

void OrderGraph::build() {
  incoming_.assign(first_.size() - 1, 0);
  for_each_arc([&](Vertex from, Vertex to) {
    ++first_[from + 1];
    ++incoming_[to];
  });
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
  targets_.resize(first_.back());
  low_.assign(first_.begin(), first_.end() - 1);  // next free target per vertex
  for_each_arc([&](Vertex from, Vertex to) { targets_[low_[from]++] = to; });
}

/// Removes vertices without predecessor until there is none. True if vertices remain: those on
/// cycles, and those reachable from them.
bool OrderGraph::peel() {
  path_.clear();
  for (Vertex v = 0; v < incoming_.size(); ++v) {
    if (incoming_[v] == 0) path_.push_back(v);
  }
  std::size_t peeled = 0;
  while (!path_.empty()) {
    const Vertex v = path_.back();
    path_.pop_back();
    incoming_[v] = k_peeled;
    ++peeled;
    for (std::uint32_t k = first_[v]; k < first_[v + 1]; ++k) {
      if (--incoming_[targets_[k]] == 0) path_.push_back(targets_[k]);
    }
  }
  return peeled < incoming_.size();
}

/// Tarjan's algorithm without recursion, on the remaining vertices.
void OrderGraph::search_all(std::uint32_t& next) {
  index_.assign(incoming_.size(), 0);  // 0: not visited
  low_.assign(incoming_.size(), 0);
  component_.assign(incoming_.size(), k_open);
  clock_ = 0;
  for (Vertex v = 0; v < incoming_.size(); ++v) {
    if (incoming_[v] != k_peeled && index_[v] == 0) search(v, next);
  }
}

void OrderGraph::open(Vertex v) {
  index_[v] = low_[v] = ++clock_;
  path_.push_back(v);
  frames_.push_back({v, first_[v]});
}

void OrderGraph::search(Vertex root, std::uint32_t& next) {
  open(root);
  while (!frames_.empty()) {
    const Vertex v = frames_.back().vertex;
    if (frames_.back().successor < first_[v + 1]) {
      const Vertex to = targets_[frames_.back().successor++];
      if (incoming_[to] == k_peeled || index_[to] == k_closed) continue;
      if (index_[to] == 0) {
        open(to);
      } else {
        low_[v] = std::min(low_[v], index_[to]);
      }
      continue;
    }
    frames_.pop_back();
    if (!frames_.empty()) {
      const Vertex parent = frames_.back().vertex;
      low_[parent] = std::min(low_[parent], low_[v]);
    }
    if (low_[v] == index_[v]) close(v, next);
  }
}

/// All vertices on the path from v on are one component; one with a single event is no cycle.
void OrderGraph::close(Vertex v, std::uint32_t& next) {
  auto first = path_.end();
  std::uint32_t events = 0;
  do {
    --first;
    index_[*first] = k_closed;
    if (*first < hubs_begin_) ++events;
  } while (*first != v);
  if (events > 1) {
    for (auto member = first; member != path_.end(); ++member) component_[*member] = next;
    ++next;
  }
  path_.erase(first, path_.end());
}

}  // namespace entrain::verify
