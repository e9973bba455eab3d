// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "match/graph.hpp"

namespace entrain::causal {

/// "No such edge."
inline constexpr std::int64_t k_no_slack = std::numeric_limits<std::int64_t>::max();

/// Smallest receive - send - mu of the edges between a unit and the other units of its group,
/// ticks.
struct InnerSlack {
  std::int64_t into = k_no_slack;    ///< of edges that end in the unit
  std::int64_t out_of = k_no_slack;  ///< of edges that begin there
};

/// What edges inside groups of locations allow.
struct InnerSlackOptions {
  std::span<const std::int64_t> times;      ///< per node, ghosts too; within +-2^61
  std::span<const std::uint32_t> unit_of;   ///< per location; a unit lies in one group
  std::span<const std::uint32_t> group_of;  ///< per location
  std::uint32_t units = 0, groups = 0;
  MuTicks mu{};
  unsigned threads = 1;  ///< of this member, 0: all cores; the slacks do not depend on it
};

/// One entry per unit. With times that are stamps of one clock nothing may be below 0. Collectives
/// cost O(members). In a team: the values of the whole; collective.
std::vector<InnerSlack> inner_slacks(Team& team, const match::Graph& graph,
                                     const InnerSlackOptions& options);

}  // namespace entrain::causal
