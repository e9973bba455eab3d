// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/big_vector.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

struct ClusterEdge {
  std::uint32_t cluster = k_none;
  EventRef from, to;
};

/// Numbers some instants of a trace from 0 on, in the order of locations and streams. A few
/// instants are sorted; many set a bit each, so that lookups are O(1). The bits of a location
/// span its first to its last instant, which lie close together in a cluster.
///
/// Example: of the instants {1, 4}, {0, 7} and {1, 2} (location, event), {0, 7} gets number 0, {1,
/// 2} number 1 and {1, 4} number 2.
class InstantNumbers {
 public:
  explicit InstantNumbers(const Places& places) : places_(&places) {}

  /// Replaces all instants by those that `visit(add)` passes to `add(instant)`, at most `count`.
  /// Calls `visit` once or twice.
  template <class Visit>
  void assign(std::size_t count, Visit visit) {
    begin(count);
    if (dense_) {
      visit([&](EventRef instant) { include(instant); });
      lay_out();
      visit([&](EventRef instant) { set(position(instant)); });
      count_bits();
    } else {
      visit([&](EventRef instant) { few_.push_back(instant); });
      sort_few();
    }
  }

  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// Number of an instant that was added.
  [[nodiscard]] std::uint32_t operator[](EventRef instant) const {
    if (!dense_) return search(instant);
    const std::uint64_t at = position(instant);
    const std::uint64_t lower = bits_[at / 64] & ((std::uint64_t{1} << at % 64) - 1);
    return before_[at / 64] + static_cast<std::uint32_t>(__builtin_popcountll(lower));
  }
  /// Calls `use(number, instant)` for all, ascending.
  template <class Use>
  void for_each(Use use) const {
    if (!dense_) {
      for (std::uint32_t n = 0; n < count_; ++n) use(n, few_[n]);
      return;
    }
    std::uint32_t number = 0;
    for (const LocationIndex l : touched_) {
      const Stretch& stretch = stretches_[l];
      for (std::uint32_t e = stretch.first; e <= stretch.last; ++e) {
        const std::uint64_t at = stretch.begin + (e - stretch.first);
        if ((bits_[at / 64] >> at % 64 & 1) != 0) use(number++, EventRef{l, e});
      }
    }
  }

 private:
  /// The instants of a location, and the position of the bit of the first one.
  struct Stretch {
    std::uint32_t first = k_none, last = 0;
    std::uint64_t begin = 0;
  };

  void begin(std::size_t count);
  void include(EventRef instant);
  void lay_out();
  void count_bits();
  void sort_few();
  [[nodiscard]] std::uint32_t search(EventRef instant) const;

  void set(std::uint64_t position) { bits_[position / 64] |= std::uint64_t{1} << position % 64; }
  [[nodiscard]] std::uint64_t position(EventRef instant) const {
    const Stretch& stretch = stretches_[instant.location];
    return stretch.begin + (instant.event - stretch.first);
  }

  const Places* places_;
  bool dense_ = false;
  std::uint32_t count_ = 0;
  BigVector<EventRef> few_;
  std::vector<Stretch> stretches_;      ///< one per location
  std::vector<LocationIndex> touched_;  ///< locations with instants, sorted
  BigVector<std::uint64_t> bits_;       ///< location after location
  BigVector<std::uint32_t> before_;     ///< number of bits before each word
};

/// A graph of edges and local order among some instants; finds its strongly connected components.
/// Reuses its memory for many small graphs.
///
/// An instance takes part through vertices of its own, so that it costs as many arcs as it has
/// participants, not their product: all sends lead to one vertex, which leads to all receives. An
/// ordered instance has a chain of vertices, one per sender.
class OrderGraph {
 public:
  using Vertex = std::uint32_t;

  explicit OrderGraph(const Places& places) : numbers_(places) {}

  /// Begins a new graph with these edges, which must outlive for_each_component().
  void begin(std::span<const ClusterEdge> edges);
  /// Adds a vertex that is no instant.
  std::uint32_t add_vertex() { return extra_++; }
  void add_entry(EventRef from, std::uint32_t vertex) { entries_.push_back({from, vertex}); }
  void add_exit(std::uint32_t vertex, EventRef to) { exits_.push_back({to, vertex}); }
  void add_link(std::uint32_t from, std::uint32_t to) { links_.push_back({from, to}); }

  /// Finds the strongly connected components of two instants or more. Calls `use(instant,
  /// component)` for each of their instants, in order of instants. Components are numbered from
  /// `next` on, which is raised. O(v + e log v) for v vertices and e arcs.
  template <class Use>
  void for_each_component(std::uint32_t& next, Use use) {
    build();
    if (!peel()) return;
    search_all(next);
    numbers_.for_each([&](Vertex v, EventRef instant) {
      if (component_[v] != k_open) use(instant, component_[v]);
    });
  }

 private:
  static constexpr std::uint32_t k_open = 0xFFFFFFFFu;

  struct Frame {
    Vertex vertex;
    std::uint32_t successor;
  };

  void build();
  template <class Use>
  void for_each_arc(Use use) const;
  bool successor(Vertex v, std::uint32_t k, Vertex& to) const;
  bool peel();
  void search_all(std::uint32_t& next);
  void search(Vertex root, std::uint32_t& next);
  void open(Vertex v);
  void close(Vertex v, std::uint32_t& next);

  std::span<const ClusterEdge> edges_;
  BigVector<std::pair<EventRef, std::uint32_t>> entries_, exits_;  ///< arcs of added vertices
  std::vector<std::pair<std::uint32_t, std::uint32_t>> links_;
  std::uint32_t extra_ = 0;  ///< number of vertices after the instants
  InstantNumbers numbers_;
  std::vector<bool> follows_;       ///< true per instant with a predecessor on its location
  BigVector<std::uint32_t> first_;  ///< first target per vertex, and the end
  BigVector<Vertex> targets_;
  BigVector<std::uint32_t> incoming_;  ///< number of predecessors, local order included
  BigVector<Vertex> path_;
  std::vector<Frame> frames_;
  BigVector<std::uint32_t> index_, low_, component_;
  std::uint32_t clock_ = 0;
};

}  // namespace entrain::verify
