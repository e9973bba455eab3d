// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/team.hpp"
#include "clc/incidence.hpp"
#include "clc/schedule.hpp"
#include "match/graph.hpp"
#include "trace/partition.hpp"

namespace entrain::clc {

/// What was done about the cycles of a graph that a team shares.
struct TeamCycles {
  std::vector<TiedNodes> tied;           ///< all components, with this member's nodes
  std::vector<std::uint32_t> tied_of;    ///< as Schedule::tied_of
  std::uint64_t tied_nodes = 0;          ///< of the whole team
  std::uint64_t dropped_components = 0;  ///< of the whole team
  std::uint64_t dropped_edges = 0;       ///< of the whole team
};

/// Nodes that can lie on a cycle, given the final times of a forward pass over all nodes, ghosts
/// too. Times do not fall along edges and local order, so they are all equal on a cycle: only runs
/// of equal times in a location that are entered and left by edges between equal times count.
std::vector<bool> cycle_suspects(Team& team, const match::Graph& graph,
                                 std::span<const std::int64_t> times);

/// What rank 0 would have to number for settle_cycles(): nodes and all that connects them, over the
/// team. Collective.
match::GraphSize size_between(Team& team, const match::Graph& graph,
                              const std::vector<bool>& suspects);

/// Finds the strongly connected components among the nodes marked in `suspects` (one per node,
/// ghosts too), ties or cuts them like make_schedule() and tells every member. Rank 0 gets the part
/// of the graph between suspects, which must be countable, and searches it. Collective; the graph
/// loses edges if components are cut.
TeamCycles settle_cycles(Team& team, const trace::Partition& partition, match::Graph& graph,
                         Incidence& incidence, const std::vector<bool>& suspects);

}  // namespace entrain::clc
