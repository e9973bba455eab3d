// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "clc/curve.hpp"
#include "clc/schedule.hpp"
#include "match/graph.hpp"

namespace entrain::clc {

/// The times that clock maps must give, and what they must respect.
struct RefineInput {
  Team* team = nullptr;
  const match::Graph* graph = nullptr;
  const Schedule* schedule = nullptr;
  const trace::Trace* trace = nullptr;
  std::span<const ClockMap> presync_maps;      ///< per location
  std::span<const std::int64_t> displacement;  ///< e per node, >= 0
  MuTicks mu{};
  std::int64_t delta = 0;
  unsigned threads = 1;                ///< 0: all cores
  bool split_flushes = false;          ///< see make_map
  const Progress* progress = nullptr;  ///< when it says so, the maps are of no use
};

/// Clock maps of all locations.
struct RefinedMaps {
  std::vector<ClockMap> maps;
  bool settled = true;  ///< false: something is broken that no knot can mend; the same at all
};

/// Evaluates the maps of the touched locations (those with a curve) at every node, puts bends where
/// rounding broke an edge, an order or a bound, and looks again until nothing is broken. Returns
/// the maps of all locations; `times`, room that is used for it, receives their values at this
/// member's nodes if any location of any member is touched. What a flush forbids, or what a double
/// cannot tell apart, stays broken. Collective.
RefinedMaps refine_maps(const RefineInput& input, std::vector<Curve>& curves,
                        BigVector<std::int64_t>& times);

}  // namespace entrain::clc
