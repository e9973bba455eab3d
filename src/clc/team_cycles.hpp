// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/error.hpp>

#include "base/team.hpp"
#include "clc/forward.hpp"
#include "match/graph.hpp"
#include "trace/share.hpp"

namespace entrain::clc {

/// Marks the nodes, ghosts too, that may be on a cycle of edges and local order: those from `left`
/// on (one node per location) whose times C lie where some member's edges do not go forward.
/// Collective.
///
/// Local order never goes back in C. So what a cycle climbs, its edges `s -> r` with C_r <= C_s
/// descend again: their intervals [C_r, C_s] cover the times of all of its nodes.
///
/// Example: edges lead from 300 back to 150 and from 500 to 500. Nodes at 150, 200, 300 and 500 are
/// marked, nodes at 100 and 400 are not.
std::vector<bool> cycle_suspects(Team& team, const match::Graph& graph,
                                 std::span<const std::int64_t> presync,
                                 std::span<const NodeIndex> left);

/// Finds the strongly connected components of edges and local order. Where one spans at most two
/// granules on every location, the cause is equal stamps of a coarse timer, and its nodes are tied.
/// Larger ones are matching errors: their edges are taken out of `graph`. `left` as in
/// cycle_suspects(): earlier nodes are on no cycle. Rank 0 gets the part of the graph between
/// suspects, searches it, and informs every member. Collective. Errors, the same at every member:
/// ErrorKind::input if that part is too large.
Result<Cycles> settle_cycles(const trace::Share& share, match::Graph& graph,
                             std::span<const std::int64_t> presync,
                             std::span<const NodeIndex> left);

}  // namespace entrain::clc
