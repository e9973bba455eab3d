// SPDX-License-Identifier: BSD-3-Clause
#include "net/model/spanning_tree.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace entrain::net {
namespace {

struct Search {
  std::vector<NodeIndex> order;  ///< order of the visit
  std::vector<NodeIndex> parent;
  std::vector<std::int64_t> depth;
  std::int64_t farthest_interface = 0;
};

/// Breadth first. Gives up, with a short order, once an interface is farther than `limit`.
Search search_from(const Topology& topology, NodeIndex root, std::int64_t limit) {
  Search search;
  search.parent.assign(topology.nodes().size(), k_none);
  search.depth.assign(topology.nodes().size(), -1);
  search.order.push_back(root);
  search.depth[root] = 0;
  for (std::size_t i = 0; i < search.order.size(); ++i) {
    const NodeIndex node = search.order[i];
    if (!topology.nodes()[node].is_switch) {
      search.farthest_interface = search.depth[node];
      if (search.farthest_interface > limit) break;
    }
    for (const Neighbour& neighbour : topology.neighbours(node)) {
      if (search.depth[neighbour.node] >= 0) continue;
      search.depth[neighbour.node] = search.depth[node] + 1;
      search.parent[neighbour.node] = node;
      search.order.push_back(neighbour.node);
    }
  }
  return search;
}

}  // namespace

SpanningTree::SpanningTree(const Topology& topology) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (NodeIndex node = 0; node < topology.nodes().size(); ++node) {
    if (!topology.nodes()[node].is_switch) continue;
    const std::int64_t depth = search_from(topology, node, least).farthest_interface;
    if (depth >= least) continue;
    least = depth;
    root_ = node;
  }
  Search search = search_from(topology, root_, least);
  parent_ = std::move(search.parent);
  depth_ = std::move(search.depth);
  level_.assign(topology.nodes().size(), -1);
  children_.resize(topology.nodes().size());
  for (const NodeIndex interface : topology.interfaces()) level_[interface] = 0;
  for (std::size_t i = search.order.size(); i-- > 0;) {
    const NodeIndex node = search.order[i], parent = parent_[node];
    if (level_[node] < 0) parent_[node] = k_none;  // leads to no interface
    if (level_[node] < 0 || parent == k_none) continue;
    level_[parent] = std::max(level_[parent], level_[node] + 1);
    children_[parent].push_back(node);
  }
  for (auto& children : children_) std::sort(children.begin(), children.end());
}

std::vector<NodeIndex> SpanningTree::route(NodeIndex from, NodeIndex to) const {
  if (from == to) return {from, parent_[from], to};
  std::vector<NodeIndex> up{from}, down{to};
  while (up.back() != down.back()) {
    if (depth_[up.back()] >= depth_[down.back()]) {
      up.push_back(parent_[up.back()]);
    } else {
      down.push_back(parent_[down.back()]);
    }
  }
  up.insert(up.end(), down.rbegin() + 1, down.rend());
  return up;
}

std::uint32_t find_cycle(const Topology& topology) {
  std::vector<NodeIndex> group(topology.nodes().size());
  std::iota(group.begin(), group.end(), NodeIndex{0});
  const auto find = [&](NodeIndex node) {
    while (group[node] != node) node = group[node] = group[group[node]];
    return node;
  };
  for (std::uint32_t i = 0; i < topology.links().size(); ++i) {
    const NodeIndex a = find(topology.links()[i].a), b = find(topology.links()[i].b);
    if (a == b) return i;
    group[a] = b;
  }
  return k_none;
}

}  // namespace entrain::net
