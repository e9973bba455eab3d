// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/report.hpp>

#include "base/big_vector.hpp"
#include "match/graph.hpp"

namespace entrain::picture {

/// Families of flows: what a viewer may show or hide.
enum class Family : std::uint8_t { message, collective, thread, one_sided };
inline constexpr std::size_t k_families = 4;
[[nodiscard]] Family family_of(EdgeKind kind);

/// An edge as an arrow: a message, or in a collective the deciding edge of an end.
struct Flow {
  NodeIndex from = k_none, to = k_none;
  EdgeKind kind = EdgeKind::p2p;
  std::int64_t margin = 0;  ///< time of `to` minus that of `from`, ticks
  std::int64_t bound = 0;   ///< the least margin that is possible, ticks
};

/// The arrows of a graph whose nodes are all here: one per edge, and in collectives one per end,
/// from the begin of another location that allows it last. `times`: of nodes, ticks. In order of
/// the graph; O(its size).
BigVector<Flow> flows_of(const match::Graph& graph, std::span<const std::int64_t> times,
                         const MuTicks& mu);

/// The flows with the smallest margins less bounds, the worst one first; of equals the first ones.
std::vector<std::uint64_t> worst_flows(std::span<const Flow> flows, std::size_t most);

}  // namespace entrain::picture
