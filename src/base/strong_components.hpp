// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include "base/big_vector.hpp"
#include "base/ids.hpp"

namespace entrain {

/// An arc of a directed graph whose vertices are numbered.
struct Arc {
  std::uint32_t from = 0, to = 0;
};

/// Strongly connected components of a directed graph (Tarjan 1972, without recursion). An object
/// serves several graphs of as many vertices, one after the other.
///
/// Example: of the arcs 0 -> 1, 1 -> 2, 2 -> 1 and 2 -> 3, the vertices 1 and 2 are one component;
/// 0 and 3 are alone.
class StrongComponents {
 public:
  explicit StrongComponents(std::size_t vertices = 0) { reset(vertices); }
  /// Prepares for graphs of another number of vertices.
  void reset(std::size_t vertices) {
    first_.resize(vertices + 1);
    for (auto* const array : {&order_, &low_, &component_, &next_arc_}) array->resize(vertices);
  }

  /// Finds the components of the graph with the arcs arc_of(item). O(vertices + arcs).
  template <class Items, class ArcOf>
  void find(const Items& items, ArcOf arc_of) {
    std::fill(first_.begin(), first_.end(), 0u);
    for (const auto& item : items) ++first_[arc_of(item).from + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
    std::copy(first_.begin(), first_.end() - 1, next_arc_.begin());
    target_.resize(items.size());
    for (const auto& item : items) {
      const Arc arc = arc_of(item);
      target_[next_arc_[arc.from]++] = arc.to;
    }
    std::copy(first_.begin(), first_.end() - 1, next_arc_.begin());
    std::fill(order_.begin(), order_.end(), k_none);
    std::fill(component_.begin(), component_.end(), k_none);
    counted_ = 0;
    for (const auto& item : items) {
      if (order_[arc_of(item).from] == k_none) visit(arc_of(item).from);
    }
  }

  /// Vertex that stands for the component of a vertex; k_none without arcs.
  [[nodiscard]] std::uint32_t of(std::uint32_t vertex) const { return component_[vertex]; }

 private:
  void enter(std::uint32_t vertex) {
    order_[vertex] = low_[vertex] = counted_++;
    path_.push_back(vertex);
    open_.push_back(vertex);
  }

  void visit(std::uint32_t start) {
    enter(start);
    while (!path_.empty()) {
      const std::uint32_t at = path_.back();
      if (next_arc_[at] < first_[at + 1]) {
        const std::uint32_t to = target_[next_arc_[at]++];
        if (order_[to] == k_none) {
          enter(to);
        } else if (component_[to] == k_none) {
          low_[at] = std::min(low_[at], order_[to]);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) low_[path_.back()] = std::min(low_[path_.back()], low_[at]);
      if (low_[at] == order_[at]) close(at);
    }
  }

  void close(std::uint32_t root) {
    for (std::uint32_t vertex = k_none; vertex != root;) {
      vertex = open_.back();
      open_.pop_back();
      component_[vertex] = root;
    }
  }

  BigVector<std::uint32_t> first_, order_, low_, component_, next_arc_, target_, path_, open_;
  std::uint32_t counted_ = 0;
};

}  // namespace entrain
