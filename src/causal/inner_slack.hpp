// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "match/graph.hpp"

namespace entrain::causal {

/// The slack where there is no such edge.
inline constexpr std::int64_t k_no_slack = std::numeric_limits<std::int64_t>::max();

/// Smallest receive - send - mu of the edges between a unit and the other units of its group,
/// ticks.
struct InnerSlack {
  std::int64_t into = k_no_slack;    ///< of edges that end in the unit
  std::int64_t out_of = k_no_slack;  ///< of edges that begin there
};

/// The groups of locations that inner_slacks() looks inside of, and how it works.
struct InnerSlackOptions {
  std::span<const std::int64_t> times;      ///< per node, ghosts too; within +-2^61
  std::span<const std::uint32_t> unit_of;   ///< per location; a unit lies in one group
  std::span<const std::uint32_t> group_of;  ///< per location
  std::uint32_t units = 0, groups = 0;      ///< how many there are
  MuTicks mu{};
  unsigned threads = 1;  ///< of this member, 0: all cores; the slacks do not depend on it
};

/// The inner slacks, one entry per unit. A slack below 0 contradicts that the group has one clock,
/// if the times are stamps. Example: unit 0 sends at 1000 and unit 1 receives at 990 with mu 2;
/// then `out_of` of unit 0 and `into` of unit 1 are -12 at most. Collectives cost O(participants).
/// In a team: the values of the whole graph; collective.
std::vector<InnerSlack> inner_slacks(Team& team, const match::Graph& graph,
                                     const InnerSlackOptions& options);

}  // namespace entrain::causal
