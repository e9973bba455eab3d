// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "constraints/clock_errors.hpp"
#include "constraints/constraint.hpp"
#include "match/graph.hpp"

namespace entrain::constraints {

struct ConstraintOptions {
  std::span<const std::int64_t> times;      ///< presynchronised times of all nodes, ghosts too
  std::span<const std::uint32_t> clock_of;  ///< clock of each location
  std::uint32_t clocks = 0;
  MuTicks mu{};
  /// First and last presynchronised time of all events; begin < end.
  std::int64_t begin = 0, end = 0;
  std::uint32_t windows = 1;  ///< number of windows of that span
  /// Known errors (null: 0). They decide which edge of a pair is the tightest in a window.
  const ClockErrors* errors = nullptr;
  /// Cost of moving an end of an edge to the middle of its window, ticks per tick. If not 0,
  /// tightness is measured after both ends were moved.
  double rate = 0;
  unsigned threads = 1;  ///< threads of this member, 0: all cores; results do not depend on it
};

/// Returns the constraint of the tightest edge per ordered pair of clocks and window, in a fixed
/// order.
///
/// In a collective, every end is bounded by the latest begin of another clock, and every begin by
/// the earliest end of another clock: O(participants), not O(pairs). Edges between locations of one
/// clock are ignored. In a team: the constraints of the whole graph, the same at every member;
/// collective. O(edges + participants) time; memory for at most pairs x windows constraints per
/// thread.
[[nodiscard]] std::vector<ClockConstraint> collect_constraints(Team& team,
                                                               const match::Graph& graph,
                                                               const ConstraintOptions& options);

}  // namespace entrain::constraints
