// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "bounds/prove.hpp"
#include "trace/share.hpp"

namespace entrain::bounds {

/// Bounds the errors of the times that `maps` give, per location and, if `rows`, per window.
/// Collective; the same at every process.
ClockBounds judge(const trace::Share& share, const ProvenIntervals& proven,
                  std::span<const ClockMap> maps, bool rows);

}  // namespace entrain::bounds
