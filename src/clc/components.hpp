// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "clc/cycles.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// Takes every pair with both ends in one of `components` out of the graph; returns the number of
/// these pairs.
std::uint64_t drop_inner_edges(match::Graph& graph, std::span<const TiedNodes> components);

/// Position of the first participant with order >= `order`; `side` is sorted by order.
std::size_t first_not_below(std::span<const match::Participant> side, std::uint32_t order);

}  // namespace entrain::clc
