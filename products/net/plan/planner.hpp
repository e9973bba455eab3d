// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/model/spanning_tree.hpp"
#include "net/model/topology.hpp"
#include "net/plan/schedule.hpp"

namespace entrain::net {

/// Collects the messages of a schedule and finds their routes along the tree.
class Planner {
 public:
  Planner(const Topology& topology, const SpanningTree& tree);

  [[nodiscard]] InterfaceIndex interface_at(NodeIndex node) const { return ordinal_[node]; }
  [[nodiscard]] NodeIndex node_of(InterfaceIndex i) const { return topology_.interfaces()[i]; }

  /// The delay of the link from `node` to its parent; 0 if it has none of its own.
  [[nodiscard]] Femtoseconds delay_above(NodeIndex node) const;

  /// Adds one message, with its route along the tree.
  void add(std::int64_t slot, InterfaceIndex source, InterfaceIndex destination);
  /// Adds a building block pattern, BBP(group, start). A group of one needs none.
  void add_bbp(std::span<const InterfaceIndex> group, std::int64_t start);

  /// Returns the schedule, ordered. The planner is empty afterwards.
  Schedule take();

 private:
  const Topology& topology_;
  const SpanningTree& tree_;
  std::vector<InterfaceIndex> ordinal_;  ///< each node's position among the interfaces
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> routes_;
  Schedule schedule_;
};

}  // namespace entrain::net
