// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <vector>

#include "match/graph.hpp"

namespace entrain::clc {

/// Takes every pair with both ends in one component out of the graph; returns the number of these
/// pairs. `component_of`: per node, ghosts too, its component, or k_none.
std::uint64_t drop_inner_edges(match::Graph& graph, std::span<const std::uint32_t> component_of);

using Participants = std::vector<match::Participant>;
using GroupOf = std::function<std::uint32_t(const match::Participant&)>;

/// Adds an exchange to a graph, `like` another one, without the pairs inside the groups `apart`:
/// that of all sends and the receives outside of these groups, and per group that of the sends
/// outside of it and the receives inside. Returns the number of pairs left out.
std::uint64_t add_apart(match::Graph& graph, const match::Exchange& like, const Participants& sends,
                        const Participants& receives, const std::set<std::uint32_t>& apart,
                        const GroupOf& group_of);

/// Position of the first participant with order >= `order`; `side` is sorted by order.
std::size_t first_not_below(std::span<const match::Participant> side, std::uint32_t order);

}  // namespace entrain::clc
