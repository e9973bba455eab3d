// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "net/model/topology.hpp"

namespace entrain::net {

/// A spanning tree of least depth, without the branches that lead to no interface.
///
/// The root is the switch whose distance to its farthest interface is smallest; the first such
/// switch in the order of nodes. The parent of every other node is the neighbour nearest to the
/// root; among several, the one that a breadth-first search meets first. The same topology always
/// gives the same tree. Construction takes O(switches x links).
class SpanningTree {
 public:
  explicit SpanningTree(const Topology& topology);

  [[nodiscard]] NodeIndex root() const { return root_; }
  /// k_none for the root and for nodes that the tree leaves out.
  [[nodiscard]] NodeIndex parent(NodeIndex node) const { return parent_[node]; }
  /// The children of `node`, in the order of nodes.
  [[nodiscard]] const std::vector<NodeIndex>& children(NodeIndex node) const {
    return children_[node];
  }
  /// Number of links between the root and `node`.
  [[nodiscard]] std::int64_t depth(NodeIndex node) const { return depth_[node]; }
  /// Interfaces are at level 0, a switch is one above its highest child.
  [[nodiscard]] std::int64_t level(NodeIndex node) const { return level_[node]; }
  /// Number of levels of nodes, including that of the interfaces: 2 for one switch.
  [[nodiscard]] std::int64_t levels() const { return level_[root_] + 1; }
  [[nodiscard]] bool contains(NodeIndex node) const { return level_[node] >= 0; }
  /// Nodes on the way between two interfaces along the tree, both included. The way from an
  /// interface to itself leads over its switch.
  [[nodiscard]] std::vector<NodeIndex> route(NodeIndex from, NodeIndex to) const;

 private:
  NodeIndex root_ = k_none;
  std::vector<NodeIndex> parent_;
  std::vector<std::vector<NodeIndex>> children_;
  std::vector<std::int64_t> depth_;
  std::vector<std::int64_t> level_;
};

/// The position of a link that closes a cycle, or k_none if the topology is a tree.
std::uint32_t find_cycle(const Topology& topology);

}  // namespace entrain::net
