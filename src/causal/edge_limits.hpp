// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "causal/fit.hpp"
#include "match/graph.hpp"

namespace entrain::causal {

/// How edges become bounds on clock errors.
struct BoundOptions {
  std::span<const std::int64_t> times;      ///< presynchronised, per node, ghosts too
  std::span<const std::uint32_t> clock_of;  ///< per location
  std::uint32_t clocks = 0;
  MuTicks mu{};
  std::int64_t begin = 0, end = 0;  ///< presynchronised times of all events; begin < end
  std::uint32_t windows = 1;        ///< into which that span is cut
  /// Errors as far as they are known: they decide which edge of a pair of clocks and window is the
  /// tightest. Null: 0.
  const ClockErrors* errors = nullptr;
  /// What it costs to move an end of an edge to the middle of its window, ticks per tick: then the
  /// tightest edge is the one that is so in the middle.
  double rate = 0;
  unsigned threads = 1;  ///< of this member, 0: all cores; the bounds do not depend on it
};

/// The tightest edge of every ordered pair of clocks and window, in a fixed order. Of a collective
/// instance every end is held by the latest begin, and every begin by the earliest end, of another
/// clock: O(members), not O(pairs). Edges between locations of one clock say nothing. In a team,
/// the bounds of all members, the same at every one; collective.
/// O(edges + members) time; memory for at most pairs x windows bounds per thread.
[[nodiscard]] std::vector<CausalBound> collect_bounds(Team& team, const match::Graph& graph,
                                                      const BoundOptions& options);

}  // namespace entrain::causal
