// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "base/strong_components.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

struct ClusterEdge {
  std::uint32_t cluster = k_none;
  EventRef from, to;
};

/// A graph of edges and local order; finds its strongly connected components. Reuses its memory for
/// many graphs.
///
/// The vertices of a location are its events from the first to the last one that has an edge: in a
/// cluster these lie close together. An instance takes part through *hubs*, so that it costs as
/// many arcs as it has participants, not their product: all sends lead to a hub, which leads to all
/// receives. Hubs have references beyond those of all locations: {number of locations + rank of the
/// member that made it, 0, 1, ...}.
class OrderGraph {
 public:
  /// `members`: number of members that make hubs.
  OrderGraph(std::size_t locations, std::size_t members)
      : locations_(locations), stretches_(locations + members) {}

  /// Begins a new graph with these edges, which must outlive for_each_component(). Returns the
  /// number of vertices.
  std::size_t take(std::span<const ClusterEdge> edges);

  /// Finds the strongly connected components of two events or more. Calls `use(event, component)`
  /// for each of their events, in order. Components are numbered from `next` on, which is raised.
  /// Requires fewer than 2^30 vertices and edges. O(v + e) for v vertices and e edges.
  template <class Use>
  void for_each_component(std::uint32_t& next, Use use) {
    find();
    for_each_event([&](EventRef event, Vertex v) {
      const Vertex root = components_.of(v);
      if (root == k_none || events_[root] < 2) return;  // one event is no cycle
      if (number_[root] == k_none) number_[root] = next++;
      use(event, number_[root]);
    });
  }

 private:
  using Vertex = std::uint32_t;
  /// The events of a location in the graph, and the vertex of the first one.
  struct Stretch {
    std::uint32_t first = k_none, last = 0;
    Vertex begin = 0;
  };

  [[nodiscard]] bool is_hub(LocationIndex l) const { return l >= locations_; }
  [[nodiscard]] Vertex vertex(EventRef event) const {
    const Stretch& of = stretches_[event.location];
    return of.begin + (event.event - of.first);
  }
  /// Calls use(event, vertex) for all events, in order.
  template <class Use>
  void for_each_event(Use use) const {
    for (const LocationIndex l : touched_) {
      const Stretch& of = stretches_[l];
      for (std::uint32_t e = of.first; e <= of.last && !is_hub(l); ++e) {
        use(EventRef{l, e}, of.begin + (e - of.first));
      }
    }
  }
  void include(EventRef event);
  void find();

  const std::size_t locations_;
  std::span<const ClusterEdge> edges_;
  std::vector<Stretch> stretches_;      ///< one per location, then one per member: its hubs
  std::vector<LocationIndex> touched_;  ///< those with vertices, sorted
  std::size_t vertices_ = 0;
  BigVector<Arc> arcs_;
  StrongComponents components_;
  BigVector<std::uint32_t> events_, number_;  ///< events and number of each component, by its root
};

}  // namespace entrain::verify
