// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/graph.hpp"

namespace entrain::clc {

/// Lists of numbers by node in compressed form: those of node n are [begin[n], begin[n + 1]).
class NodeLists {
 public:
  NodeLists() = default;
  /// Builds from (node, value) pairs; values keep their order within a node.
  NodeLists(std::size_t node_count, std::span<const std::pair<NodeIndex, std::uint32_t>> pairs);
  [[nodiscard]] std::span<const std::uint32_t> of(NodeIndex node) const {
    return {values_.data() + begin_[node], begin_[node + 1] - begin_[node]};
  }

 private:
  std::vector<std::uint32_t> begin_;
  std::vector<std::uint32_t> values_;
};

/// Which edges and exchanges a node takes part in.
struct Incidence {
  explicit Incidence(const match::Graph& graph);

  NodeLists in_edges;     ///< indices into Graph::edges, by receive node
  NodeLists out_edges;    ///< by send node
  NodeLists receives;     ///< indices into Graph::members that are receive members, by node
  NodeLists sends;        ///< indices into Graph::members that are send members, by node
  std::vector<std::uint32_t> exchange_of;    ///< per member: its exchange
  std::vector<LocationIndex> location_of;    ///< per node
};

}  // namespace entrain::clc
