// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "constraints/clock_errors.hpp"
#include "constraints/constraint.hpp"
#include "constraints/tightest_edges.hpp"
#include "match/graph.hpp"

namespace entrain::constraints {

struct ConstraintOptions {
  std::span<const std::int64_t> times{};      ///< presynchronised times of all nodes, ghosts too
  std::span<const std::uint32_t> clock_of{};  ///< clock of each location
  std::uint32_t clocks = 0;
  MuTicks mu{};
  /// First and last presynchronised time of all events; begin < end.
  std::int64_t begin = 0, end = 0;
  std::uint32_t windows = 1;  ///< number of windows of that span
  /// Known errors (null: 0). They decide which edge of a pair is the tightest in a window.
  const ClockErrors* errors = nullptr;
  /// collect_violated() only: times of all nodes that decide instead of `errors`, in parts of
  /// 2^-bits ticks since `begin`.
  std::span<const std::int64_t> corrected{};
  unsigned bits = 0;
  /// Edges count whose slack by `corrected` is below this, parts.
  std::int64_t most_slack = std::numeric_limits<std::int64_t>::max();
  /// Group of each location, and their number: edges count inside of a group only. Empty: all
  /// count.
  std::span<const std::uint32_t> group_of{};
  std::uint32_t groups = 1;
  /// Largest error of each clock's stamps, ticks: it is added to slacks at both ends. Empty: 0.
  std::span<const std::int64_t> margins{};
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

/// The same by corrected times, with slacks by these, parts. If any pair of an end and a begin of a
/// collective is violated, a violated pair of it is among those that count.
[[nodiscard]] std::vector<LimitingEdge> collect_violated(Team& team, const match::Graph& graph,
                                                         const ConstraintOptions& options);

}  // namespace entrain::constraints
