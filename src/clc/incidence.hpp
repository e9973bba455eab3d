// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/ranked_bits.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// Lists of numbers by node. Most nodes have none: they cost two bits, the others 4 bytes
/// and 4 per value.
class NodeLists {
 public:
  NodeLists() = default;
  /// `for_each(body)` calls body(node, value) for all values, every time in the same order, in
  /// which the values of a node stay.
  template <class ForEach>
  NodeLists(std::size_t node_count, ForEach for_each);

  [[nodiscard]] std::span<const std::uint32_t> of(NodeIndex node) const {
    if (!filled_.test(node)) return {};
    const std::size_t i = filled_.rank(node);
    return {values_.data() + begin_[i], begin_[i + 1] - begin_[i]};
  }
  [[nodiscard]] bool has(NodeIndex node) const { return filled_.test(node); }
  /// Nodes that have values, and those of them before `node`.
  [[nodiscard]] std::size_t count() const { return filled_.count(); }
  [[nodiscard]] std::size_t rank(NodeIndex node) const { return filled_.rank(node); }

 private:
  RankedBits filled_;               ///< nodes that have values
  BigVector<std::uint32_t> begin_;  ///< first value of each node in `filled_`, then the end
  BigVector<std::uint32_t> values_;
};

template <class ForEach>
NodeLists::NodeLists(std::size_t node_count, ForEach for_each) : filled_(node_count) {
  for_each([&](NodeIndex node, std::uint32_t) { filled_.set(node); });
  filled_.seal();
  // begin_[i + 1] counts the values of i, then is where the next one of i goes, in the end where
  // those of i end.
  begin_.assign(filled_.count() + 2, 0);
  for_each([&](NodeIndex node, std::uint32_t) { ++begin_[filled_.rank(node) + 2]; });
  for (std::size_t i = 2; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  values_.resize(begin_.back());
  for_each([&](NodeIndex node, std::uint32_t value) {
    values_[begin_[filled_.rank(node) + 1]++] = value;
  });
  begin_.pop_back();
}

/// The edges that end at a node, found in Graph::edges, which is sorted by them. Two bits per node,
/// and 4 bytes per node that has some.
class InEdges {
 public:
  InEdges() = default;
  explicit InEdges(const match::Graph& graph);

  [[nodiscard]] std::span<const match::Edge> of(NodeIndex node) const {
    if (!filled_.test(node)) return {};
    const std::size_t i = filled_.rank(node);
    return {edges_ + begin_[i], begin_[i + 1] - begin_[i]};
  }

 private:
  const match::Edge* edges_ = nullptr;
  RankedBits filled_;
  BigVector<std::uint32_t> begin_;  ///< first edge of each node in `filled_`, then the end
};

/// Which edges and exchanges a node takes part in. Holds as long as the graph is neither changed
/// nor moved from.
struct Incidence {
  /// `left_out`: per exchange, or empty; those marked look as if they had no participants.
  explicit Incidence(const match::Graph& graph, const std::vector<bool>& left_out = {});

  InEdges in_edges;
  NodeLists receives;  ///< indices into Graph::participants that are receiving, by node
  NodeLists sends;     ///< indices into Graph::participants that are sending, by node
  BigVector<std::uint32_t> exchange_of;  ///< exchange of each participant; k_none: left out
};

}  // namespace entrain::clc
