// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
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
    build();
    if (!peel()) return;
    search_all(next);
    for (const LocationIndex l : touched_) {
      const Stretch& of = stretches_[l];
      for (std::uint32_t e = of.first; e <= of.last && !is_hub(l); ++e) {
        const Vertex v = of.begin + (e - of.first);
        if (component_[v] != k_open) use(EventRef{l, e}, component_[v]);
      }
    }
  }

 private:
  using Vertex = std::uint32_t;
  static constexpr std::uint32_t k_open = k_none;

  /// The events of a location in the graph, and the vertex of the first one.
  struct Stretch {
    std::uint32_t first = k_none, last = 0;
    Vertex begin = 0;
  };
  struct Frame {
    Vertex vertex = 0;
    std::uint32_t successor = 0;  ///< index in targets_ of the next one
  };

  [[nodiscard]] bool is_hub(LocationIndex l) const { return l >= locations_; }
  [[nodiscard]] Vertex vertex(EventRef event) const {
    const Stretch& of = stretches_[event.location];
    return of.begin + (event.event - of.first);
  }
  void include(EventRef event);
  template <class Use>
  void for_each_arc(Use use) const;
  void build();
  bool peel();
  void search_all(std::uint32_t& next);
  void open(Vertex v);
  void search(Vertex root, std::uint32_t& next);
  void close(Vertex v, std::uint32_t& next);

  const std::size_t locations_;
  std::span<const ClusterEdge> edges_;
  std::vector<Stretch> stretches_;      ///< one per location, then one per member: its hubs
  std::vector<LocationIndex> touched_;  ///< those with vertices, sorted
  Vertex hubs_begin_ = 0;               ///< vertices from here on are hubs
  BigVector<std::uint32_t> first_;      ///< first target per vertex, and the end
  BigVector<Vertex> targets_;
  BigVector<std::uint32_t> incoming_;  ///< number of predecessors
  BigVector<Vertex> path_;
  std::vector<Frame> frames_;
  BigVector<std::uint32_t> index_, low_, component_;
  std::uint32_t clock_ = 0;
};

}  // namespace entrain::verify
