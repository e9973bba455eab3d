// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clc/cycles.hpp"
#include "clc/incidence.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// Strongly connected components of edges and local order, with more than one node.
struct Components {
  std::vector<TiedNodes> tied;    ///< span at most two granules on every location
  std::vector<TiedNodes> errors;  ///< wider: no timer explains them
};

/// Searches the nodes from `cursor` (one per location) on. Components are ordered by their first
/// node.
Components find_components(const match::Graph& graph, const Incidence& incidence,
                           std::span<const NodeIndex> cursor);

/// Takes every pair with both ends in one of `components` out of the graph; returns the number of
/// these pairs.
std::uint64_t drop_inner_edges(match::Graph& graph, std::span<const TiedNodes> components);

/// Ties or cuts the cycles among the nodes from `cursor` (one per location) on, for a graph with
/// all nodes in this process: where edges and local order close a cycle, the cause is equal stamps
/// of a coarse timer as long as the cycle spans at most two granules on every location, and its
/// nodes are tied. Larger cycles are matching errors: their edges are taken out of `graph`.
Cycles treat_cycles(match::Graph& graph, std::span<const NodeIndex> cursor);

/// Position of the first participant with order >= `order`; `side` is sorted by order.
std::size_t first_not_below(std::span<const match::Participant> side, std::uint32_t order);

}  // namespace entrain::clc
