// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/team.hpp"
#include "match/graph.hpp"

namespace entrain::match {

/// Exchanges values between nodes and their ghosts; does nothing in a team of one.
///
/// Every function is collective; arrays have one entry per node, ghosts last.
///
/// Example: member 0 has nodes 0 and 1, and member 1 sees node 1 as its ghost, number 7 there.
/// publish() copies values[1] of member 0 to values[7] of member 1; collect_smallest() lowers
/// values[1] of member 0 to values[7] of member 1 if that is smaller.
class HaloExchange {
 public:
  HaloExchange(Team& team, const Graph& graph) : team_(team), graph_(graph) {}

  [[nodiscard]] const Graph& graph() const { return graph_; }

  /// Copies the value of every node to its ghosts.
  void publish(std::span<std::int64_t> values);
  /// Lowers the value of every node to the smallest one among its ghosts.
  void collect_smallest(std::span<std::int64_t> values);
  /// Marks every node that has a marked ghost, and then every ghost of a marked node.
  void share_marks(std::vector<bool>& marks);

 private:
  Team& team_;
  const Graph& graph_;
};

}  // namespace entrain::match
