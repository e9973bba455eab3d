// SPDX-License-Identifier: BSD-3-Clause
#include "verify/order_graph.hpp"

#include <algorithm>

namespace entrain::verify {

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
  std::ranges::sort(touched_);
  std::size_t next = 0;
  for (const LocationIndex l : touched_) {
    stretches_[l].begin = static_cast<Vertex>(next);
    next += std::size_t{stretches_[l].last} - stretches_[l].first + 1;
  }
  return vertices_ = next;
}

/// Finds the components of edges and local order, and counts their events.
void OrderGraph::find() {
  arcs_.clear();
  for (const ClusterEdge& edge : edges_) arcs_.push_back({vertex(edge.from), vertex(edge.to)});
  for_each_event([&](EventRef event, Vertex v) {
    if (event.event < stretches_[event.location].last) arcs_.push_back({v, v + 1});
  });
  components_.reset(vertices_);
  components_.find(arcs_, [](const Arc& arc) { return arc; });
  events_.assign(vertices_, 0);
  number_.assign(vertices_, k_none);
  for_each_event([&](EventRef, Vertex v) {
    if (components_.of(v) != k_none) ++events_[components_.of(v)];
  });
}

}  // namespace entrain::verify
