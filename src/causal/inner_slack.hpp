// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "match/graph.hpp"

namespace entrain::causal {

/// Slack of a unit without such edges.
inline constexpr std::int64_t k_no_slack = std::numeric_limits<std::int64_t>::max();

/// Least slack (receive - send - mu) of the edges between a unit and the other units of its group,
/// ticks.
struct InnerSlack {
  std::int64_t into = k_no_slack;    ///< least slack of edges that end in the unit
  std::int64_t out_of = k_no_slack;  ///< least slack of edges that begin in the unit
};

struct InnerSlackOptions {
  std::span<const std::int64_t> times;      ///< times of all nodes, ghosts too; within +-2^61
  std::span<const std::uint32_t> unit_of;   ///< unit of each location; a unit lies in one group
  std::span<const std::uint32_t> group_of;  ///< group of each location
  std::uint32_t units = 0, groups = 0;      ///< numbers of units and groups
  MuTicks mu{};
  unsigned threads = 1;  ///< threads of this member, 0: all cores; results do not depend on it
};

/// Returns the inner slack of each unit. A slack below 0 contradicts one clock for the group, if
/// the times are stamps. Example: unit 0 sends at 1000 and unit 1 receives at 990 with mu 2; then
/// `out_of` of unit 0 and `into` of unit 1 are -12 at most. Collectives cost O(participants). In a
/// team: the values of the whole graph; collective.
std::vector<InnerSlack> inner_slacks(Team& team, const match::Graph& graph,
                                     const InnerSlackOptions& options);

}  // namespace entrain::causal
