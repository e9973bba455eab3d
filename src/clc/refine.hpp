// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "base/cancel.hpp"
#include "clc/curve.hpp"
#include "clc/cycles.hpp"
#include "match/graph.hpp"
#include "match/halo.hpp"

namespace entrain::clc {

/// The times that clock maps must give, and the conditions that they must keep. References must
/// outlive the call.
struct RefineInput {
  Team& team;
  const match::Graph& graph;
  const Cycles& cycles;                        ///< tied nodes keep no latency among each other
  const trace::Trace& trace;                   ///< extents of locations
  std::span<const ClockMap> presync_maps;      ///< one map for each location
  std::span<const std::int64_t> displacement;  ///< d per node, ghosts too, ticks, >= 0
  MuTicks mu{};
  std::span<const std::int64_t> delta = {};  ///< least distance of events of each location, ticks;
                                             ///< empty: 0
  bool separate = false;       ///< times that only rounding has made equal are mended, too
  unsigned threads = 1;        ///< 0: all cores
  bool split_flushes = false;  ///< see make_map
  Cancel cancel{nullptr};      ///< when it asks to stop, the maps are of no use
};

/// Clock maps of all locations.
struct RefinedMaps {
  std::vector<ClockMap> maps;
  /// False: something is broken that no knot can mend. The same at every member.
  bool settled = true;
};

/// Evaluates the maps of the touched locations (those with a curve) at every node, adds bends where
/// rounding broke an edge, an order or a limit, and looks again until nothing is broken. Returns
/// the maps of all locations. `times` is memory for this; it receives the values of the maps at
/// this member's nodes if any location of any member is touched. A violation stays where a flush
/// forbids the knot that would mend it, or where a double is too coarse. Collective.
RefinedMaps refine_maps(const RefineInput& input, std::vector<Curve>& curves,
                        BigVector<std::int64_t>& times);

}  // namespace entrain::clc
