// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <entrain/report.hpp>

#include "base/ids.hpp"

namespace entrain::clc {

/// Nodes of different locations that equal stamps tie into a cycle: they get one common time.
/// Nodes of one location are consecutive; sorted.
struct TiedNodes {
  std::vector<NodeIndex> nodes;      ///< its nodes; in a team only this member's
  std::vector<std::uint32_t> peers;  ///< ranks of other members that have nodes of it
};

/// The cycles of edges and local order that were found in a graph, and their treatment.
///
/// Example: processes 0 and 1 send each other a message, and a coarse timer puts all four events at
/// stamp 100. Each location has one node, and the edges 0 -> 1 and 1 -> 0 close a cycle: `tied` has
/// one component, `nodes` {0, 1}; `tied_of` is {0, 0}; `tied_nodes` is 2. If the stamps of both
/// receives were 1,000 and those of both sends 2,000, no timer would explain the cycle: both edges
/// would be dropped, `dropped_components` would be 1 and `dropped_edges` 2.
struct Cycles {
  std::vector<TiedNodes> tied;  ///< all components, in a team with this member's nodes
  /// Per node of a tied component, ghosts too: its number; k_none for other nodes. Empty if there
  /// is no component.
  std::vector<std::uint32_t> tied_of;
  std::uint64_t tied_nodes = 0;          ///< tied nodes of the whole team
  std::uint64_t dropped_components = 0;  ///< cycles that equal stamps cannot explain
  std::uint64_t dropped_edges = 0;       ///< edges and exchanges left out to break these

  /// Number of the tied component of a node, or k_none.
  [[nodiscard]] std::uint32_t component_of(NodeIndex node) const {
    return tied_of.empty() ? k_none : tied_of[node];
  }
  /// The counters of the report that are not 0: "tied_components", "tied_nodes",
  /// "dropped_components", "dropped_edges".
  [[nodiscard]] Counters counters() const {
    Counters result{{"tied_components", tied.size()},
                    {"tied_nodes", tied_nodes},
                    {"dropped_components", dropped_components},
                    {"dropped_edges", dropped_edges}};
    std::erase_if(result, [](const auto& counter) { return counter.second == 0; });
    return result;
  }
};

}  // namespace entrain::clc
