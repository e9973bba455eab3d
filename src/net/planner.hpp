// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/schedule.hpp"

namespace entrain::net {

/// Collects the messages of a schedule and finds their routes along the tree.
class Planner {
 public:
  Planner(const Topology& topology, const SpanningTree& tree);

  [[nodiscard]] InterfaceIndex interface_at(NodeIndex node) const { return ordinal_[node]; }
  [[nodiscard]] NodeIndex node_of(InterfaceIndex i) const { return topology_.interfaces()[i]; }

  /// Own delay of the link from `node` to its parent; 0 if it has that of all links.
  [[nodiscard]] Femtoseconds delay_above(NodeIndex node) const;

  void add(std::int64_t slot, InterfaceIndex source, InterfaceIndex destination);
  /// BBP(group, start); a group of one needs none.
  void add_bbp(std::span<const InterfaceIndex> group, std::int64_t start);

  /// The schedule, ordered.
  Schedule take();

 private:
  const Topology& topology_;
  const SpanningTree& tree_;
  std::vector<InterfaceIndex> ordinal_;  ///< of nodes
  std::unordered_map<std::uint64_t, std::pair<std::uint32_t, std::uint32_t>> routes_;
  Schedule schedule_;
};

/// How the leaders of a step come to precede each other.
enum class StepKind {
  direct,       ///< each pair directly, n - 1 slots: the building block pattern
  alternating,  ///< each pair directly, 2 (n - 1) slots, every other one home
  doubling,     ///< over leaders 1, 2, 4, ... away, ceil(log2 n) slots
};

/// A step with leaders L_0..L_{n-1} of n subtrees needs a *home slot* in which each sends to a
/// destination D_j of its own, one in each subtree; in the u-th slot after it L_j sends to
/// D_{j + shift(u)}. So one packet leaves and one enters each subtree, and who follows L_j at a
/// destination is L_{j - (shift(u+1) - shift(u))}. As D is free, the last slot of the step before
/// serves as home slot, if the leader sends into its own subtree in it. Steps of disjoint subtrees
/// share no link, so each begins as soon as those below (gather) or above it (distribute) are done.
void plan_joined(const SpanningTree& tree, Planner& planner, StepKind kind);

}  // namespace entrain::net
