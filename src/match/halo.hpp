// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/team.hpp"
#include "match/graph.hpp"

namespace entrain::match {

/// Carries values between the owners of nodes and their ghosts. In a team of one, nothing.
///
/// Every call is one of the whole team; arrays have one entry per node, ghosts last.
class HaloExchange {
 public:
  HaloExchange(Team& team, const match::Graph& graph) : team_(team), graph_(graph) {}

  /// Gives every ghost the value of its node.
  void publish(std::span<std::int64_t> values);
  /// Lowers the value of every node to the smallest one among its ghosts.
  void collect_smallest(std::span<std::int64_t> values);
  /// Marks every node that one of its ghosts is marked, and then every ghost as its node.
  void share_marks(std::vector<bool>& marks);

 private:
  Team& team_;
  const match::Graph& graph_;
};

}  // namespace entrain::match
