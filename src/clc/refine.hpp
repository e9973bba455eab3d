// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "clc/curve.hpp"
#include "clc/forward.hpp"
#include "match/halo.hpp"
#include "trace/share.hpp"

namespace entrain::clc {

/// The times that clock maps must give, and the conditions that they must keep. References must
/// outlive the call.
struct RefineInput {
  const trace::Share& share;  ///< extents of locations
  /// The conditions; its times are not used. Tied nodes keep no latency among each other. With
  /// `separate` times that only rounding has made equal are mended, too. When `cancel` asks to
  /// stop, the maps are of no use.
  const ForwardProblem& problem;
  std::span<const ClockMap> presync_maps;      ///< one map for each location
  std::span<const std::int64_t> displacement;  ///< d per node, ghosts too, ticks, >= 0
  bool split_flushes = false;                  ///< see make_map
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
