// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "causal/clock_errors.hpp"
#include "causal/constraint.hpp"
#include "match/graph.hpp"

namespace entrain::causal {

/// How collect_constraints() works.
struct ConstraintOptions {
  std::span<const std::int64_t> times;      ///< presynchronised, per node, ghosts too
  std::span<const std::uint32_t> clock_of;  ///< per location
  std::uint32_t clocks = 0;
  MuTicks mu{};
  std::int64_t begin = 0, end = 0;  ///< presynchronised times of all events; begin < end
  std::uint32_t windows = 1;        ///< that span is cut into so many
  /// Errors as far as they are known (null: 0). They decide which edge of a pair of clocks is the
  /// tightest one in a window.
  const ClockErrors* errors = nullptr;
  /// Cost of moving an end of an edge to the middle of its window, ticks per tick. If it is not 0,
  /// the tightest edge is the one that is tightest after both ends were moved.
  double rate = 0;
  unsigned threads = 1;  ///< of this member, 0: all cores; the constraints do not depend on it
};

/// The constraint of the tightest edge per ordered pair of clocks and window, in a fixed order.
///
/// In a collective instance every end is limited by the latest begin of another clock, and every
/// begin by the earliest end of another clock: O(participants), not O(pairs). Edges between
/// locations of one clock say nothing. In a team: the constraints of the whole graph, the same at
/// every member; collective. O(edges + participants) time; memory for at most pairs x windows
/// constraints per thread.
[[nodiscard]] std::vector<ClockConstraint> collect_constraints(Team& team,
                                                               const match::Graph& graph,
                                                               const ConstraintOptions& options);

}  // namespace entrain::causal
