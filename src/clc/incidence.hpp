// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "match/graph.hpp"

namespace entrain::clc {

/// Lists of numbers by node. Most nodes have none: they cost one and a half bits, the others 4
/// bytes and 4 per value.
class NodeLists {
 public:
  NodeLists() = default;
  /// `for_each(body)` calls body(node, value) for all values, every time in the same order, in which
  /// the values of a node stay.
  template <class ForEach>
  NodeLists(std::size_t node_count, ForEach for_each);

  [[nodiscard]] std::span<const std::uint32_t> of(NodeIndex node) const {
    const Block& block = blocks_[node / 64];
    const std::uint64_t bit = std::uint64_t{1} << node % 64;
    if ((block.filled & bit) == 0) return {};
    const std::size_t i = block.before + static_cast<std::size_t>(std::popcount(block.filled & (bit - 1)));
    return {values_.data() + begin_[i], begin_[i + 1] - begin_[i]};
  }
  [[nodiscard]] bool has(NodeIndex node) const {
    return (blocks_[node / 64].filled >> node % 64 & 1) != 0;
  }

 private:
  /// 64 nodes: which of them have values, and how many nodes before them do.
  struct Block {
    std::uint64_t filled = 0;
    std::size_t before = 0;
  };
  [[nodiscard]] std::size_t position(NodeIndex node) const {
    const Block& block = blocks_[node / 64];
    return block.before + static_cast<std::size_t>(std::popcount(
                              block.filled & ((std::uint64_t{1} << node % 64) - 1)));
  }

  BigVector<Block> blocks_;
  BigVector<std::uint32_t> begin_;  ///< of those that have values, and the end
  BigVector<std::uint32_t> values_;
};

template <class ForEach>
NodeLists::NodeLists(std::size_t node_count, ForEach for_each) : blocks_(node_count / 64 + 1) {
  for_each([&](NodeIndex node, std::uint32_t) {
    blocks_[node / 64].filled |= std::uint64_t{1} << node % 64;
  });
  std::size_t filled = 0;
  for (Block& block : blocks_) {
    block.before = filled;
    filled += static_cast<std::size_t>(std::popcount(block.filled));
  }
  // begin_[i + 1] counts the values of i, then is where the next one of i goes, in the end where
  // those of i end.
  begin_.assign(filled + 2, 0);
  for_each([&](NodeIndex node, std::uint32_t) { ++begin_[position(node) + 2]; });
  for (std::size_t i = 2; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
  values_.resize(begin_.back());
  for_each([&](NodeIndex node, std::uint32_t value) {
    values_[begin_[position(node) + 1]++] = value;
  });
  begin_.pop_back();
}

/// Which edges and exchanges a node takes part in.
struct Incidence {
  explicit Incidence(const match::Graph& graph);

  NodeLists in_edges;     ///< indices into Graph::edges, by receive node
  NodeLists out_edges;    ///< by send node
  NodeLists receives;     ///< indices into Graph::members that are receive members, by node
  NodeLists sends;        ///< indices into Graph::members that are send members, by node
  BigVector<std::uint32_t> exchange_of;    ///< per member: its exchange
};

}  // namespace entrain::clc
