// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace entrain::verify {

/// Edges and local order among some instants, and the components of that graph. Made to be used
/// for many small graphs one after the other: it keeps its memory.
///
/// Instances take part through vertices of their own, so that one costs as many arcs as it has
/// participants; an ordered one through a chain of vertices, one per sender.
class OrderGraph {
 public:
  using Vertex = std::uint32_t;

  void clear();

  /// An edge between two instants, given as keys (key_of).
  void add_edge(std::uint64_t from, std::uint64_t to) { named_.push_back({from, to}); }
  /// A new vertex that is no instant; ends below name it like a key.
  std::uint64_t add_vertex();

  /// Finds strongly connected components of two instants or more. Calls `use(key, component)` for
  /// each of their instants, components numbered from `next` on, which is raised.
  template <class Use>
  void for_each_component(std::uint32_t& next, Use use) {
    build();
    if (!peel()) return;
    search_all(next);
    for (Vertex v = 0; v < nodes_.size(); ++v) {
      if (component_[v] != k_open) use(nodes_[v], component_[v]);
    }
  }

 private:
  static constexpr std::uint32_t k_open = 0xFFFFFFFFu;
  /// Keys of vertices that are no instants have this bit, which no location reaches.
  static constexpr std::uint64_t k_vertex_bit = std::uint64_t{1} << 63;

  struct Frame {
    Vertex vertex;
    std::uint32_t successor;
  };

  void build();
  [[nodiscard]] Vertex vertex_of(std::uint64_t key) const;
  [[nodiscard]] bool follows(Vertex v) const;
  bool successor(Vertex v, std::uint32_t k, Vertex& to) const;
  bool peel();
  void search_all(std::uint32_t& next);
  void search(Vertex root, std::uint32_t& next);
  void open(Vertex v);
  void close(Vertex v, std::uint32_t& next);

  std::vector<std::pair<std::uint64_t, std::uint64_t>> named_;
  std::uint32_t extra_ = 0;            ///< vertices that are no instants
  std::vector<std::uint64_t> nodes_;   ///< the instants, ascending: their vertices come first
  std::vector<std::pair<Vertex, Vertex>> arcs_;
  std::vector<std::uint32_t> first_;   ///< per vertex and the end, in targets_
  std::vector<Vertex> targets_;
  std::vector<std::uint32_t> incoming_;  ///< local order included
  std::vector<Vertex> path_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> index_, low_, component_;
  std::uint32_t clock_ = 0;
};

}  // namespace entrain::verify
