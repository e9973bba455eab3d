// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/team.hpp"
#include "clc/cycles.hpp"
#include "clc/incidence.hpp"
#include "match/graph.hpp"
#include "trace/share.hpp"

namespace entrain::clc {

/// Marks the nodes, ghosts too, whose times lie in one of the windows that members have found.
/// Collective.
std::vector<bool> cycle_suspects(Team& team, const match::Graph& graph,
                                 std::span<const std::int64_t> times,
                                 const std::vector<TimeWindow>& windows);

/// Size of the graph that rank 0 would get from settle_cycles(): suspected nodes and all that
/// connects them, over the whole team. Collective.
match::GraphSize size_between(Team& team, const match::Graph& graph,
                              const std::vector<bool>& suspects);

/// Finds the strongly connected components among the nodes marked in `suspects` (one per node,
/// ghosts too), ties or cuts them like treat_cycles(), and informs every member. Rank 0 gets the
/// part of the graph between suspects, which must be countable, and searches it. Collective; the
/// graph loses edges if components are cut, and `incidence` follows.
Cycles settle_cycles(const trace::Share& share, match::Graph& graph, Incidence& incidence,
                     const std::vector<bool>& suspects);

}  // namespace entrain::clc
