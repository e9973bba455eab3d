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
  std::span<const ClockMap> presync_maps;        ///< per location
  std::span<const std::int64_t> presync;         ///< C per node
  std::span<const std::int64_t> displacement;    ///< e per node, >= 0
  MuTicks mu{};
  std::int64_t delta = 0;
  unsigned threads = 1;  ///< 0: all cores
};

/// Evaluates the maps of the touched locations (those with a curve) at every node, puts bends where
/// rounding broke an edge, an order or a bound, and looks again until nothing is broken. Returns
/// the maps of all locations; `times` receives their values at this member's nodes. Collective.
std::vector<ClockMap> refine_maps(const RefineInput& input, std::vector<Curve>& curves,
                                  BigVector<std::int64_t>& times);

}  // namespace entrain::clc
