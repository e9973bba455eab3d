// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "net/model/topology.hpp"

namespace entrain::net {

/// A spanning tree of least depth, cut back to what leads to interfaces.
///
/// Its root is the switch from which the farthest interface is nearest; among several the first in
/// the order of nodes. Every other node hangs on the neighbour nearest to the root; among several
/// on the one that a breadth-first search meets first, links in their order. So the same topology
/// gives the same tree.
class SpanningTree {
 public:
  explicit SpanningTree(const Topology& topology);

  [[nodiscard]] NodeIndex root() const { return root_; }
  /// k_none for the root and for nodes that the tree leaves out.
  [[nodiscard]] NodeIndex parent(NodeIndex node) const { return parent_[node]; }
  /// In the order of nodes.
  [[nodiscard]] const std::vector<NodeIndex>& children(NodeIndex node) const {
    return children_[node];
  }
  /// Links from the root.
  [[nodiscard]] std::int64_t depth(NodeIndex node) const { return depth_[node]; }
  /// Interfaces are at level 0, a switch is one above its highest child.
  [[nodiscard]] std::int64_t level(NodeIndex node) const { return level_[node]; }
  /// Levels of nodes, the interfaces' among them: 2 for one switch.
  [[nodiscard]] std::int64_t levels() const { return level_[root_] + 1; }
  [[nodiscard]] bool contains(NodeIndex node) const { return level_[node] >= 0; }
  /// Nodes on the way between two interfaces along the tree, both included. From an interface to
  /// itself the way leads over its switch.
  [[nodiscard]] std::vector<NodeIndex> route(NodeIndex from, NodeIndex to) const;

 private:
  NodeIndex root_ = k_none;
  std::vector<NodeIndex> parent_;
  std::vector<std::vector<NodeIndex>> children_;
  std::vector<std::int64_t> depth_;
  std::vector<std::int64_t> level_;
};

/// A link that closes a cycle, or k_none if the topology is a tree.
std::uint32_t find_cycle(const Topology& topology);

}  // namespace entrain::net
