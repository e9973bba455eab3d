// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>

#include "bounds/prove.hpp"
#include "causal/project.hpp"

namespace entrain::bounds {

/// Moves maps that leave the proven intervals into these (causal::project_into_intervals).
/// Locations of which nothing is known keep the map of another one of their process.
Result<causal::Projection> project_inside(const constraints::Context& context,
                                          const trace::ClockDomains& domains,
                                          const ProvenIntervals& proven, std::span<ClockMap> maps);

}  // namespace entrain::bounds
