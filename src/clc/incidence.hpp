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
  NodeLists(std::size_t node_count, ForEach for_each) : filled_(node_count) {
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

/// The edges that end at a node, found in Graph::edges, which is sorted by them. Two bits per node,
/// and 4 bytes per node that has some.
class InEdges {
 public:
  InEdges() = default;
  explicit InEdges(const match::Graph& graph)
      : edges_(graph.edges.data()), filled_(graph.node_count()) {
    for (const match::Edge& edge : graph.edges) filled_.set(edge.receive);
    filled_.seal();
    begin_.reserve(filled_.count() + 1);
    for (std::uint32_t e = 0; e < graph.edges.size(); ++e) {
      if (e == 0 || graph.edges[e].receive != graph.edges[e - 1].receive) begin_.push_back(e);
    }
    begin_.push_back(static_cast<std::uint32_t>(graph.edges.size()));
  }

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
  explicit Incidence(const match::Graph& graph, const std::vector<bool>& left_out = {})
      : in_edges(graph), exchange_of(graph.participants.size(), k_none) {
    const std::size_t nodes = graph.node_count();
    const auto for_exchanges = [&](auto body) {
      for (std::uint32_t x = 0; x < graph.exchanges.size(); ++x) {
        if (left_out.empty() || !left_out[x]) body(graph.exchanges[x], x);
      }
    };
    const auto for_participants = [&](std::uint32_t first, std::uint32_t count, auto body) {
      for (std::uint32_t m = first; m < first + count; ++m) body(graph.participants[m].node, m);
    };
    receives = NodeLists(nodes, [&](auto body) {
      for_exchanges([&](const match::Exchange& x, std::uint32_t) {
        for_participants(x.first_receive, x.receive_count, body);
      });
    });
    sends = NodeLists(nodes, [&](auto body) {
      for_exchanges([&](const match::Exchange& x, std::uint32_t) {
        for_participants(x.first_send, x.send_count, body);
      });
    });
    for_exchanges([&](const match::Exchange& exchange, std::uint32_t x) {
      const auto set = [&](NodeIndex, std::uint32_t m) { exchange_of[m] = x; };
      for_participants(exchange.first_send, exchange.send_count, set);
      for_participants(exchange.first_receive, exchange.receive_count, set);
    });
  }

  InEdges in_edges;
  NodeLists receives;  ///< indices into Graph::participants that are receiving, by node
  NodeLists sends;     ///< indices into Graph::participants that are sending, by node
  BigVector<std::uint32_t> exchange_of;  ///< exchange of each participant; k_none: left out
};

}  // namespace entrain::clc
