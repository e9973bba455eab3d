// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "bounds/prove.hpp"
#include "engine/timeline.hpp"
#include "trace/workers.hpp"

namespace entrain::engine {

/// Proves in which intervals the clocks of a timeline lie (bounds::prove_intervals()). Collective.
Result<bounds::ProvenIntervals> prove(trace::Workers& workers, const Timeline& timeline,
                                      const BoundsOption& option, Progress* progress);

/// Whether a report of these intervals needs their rows: if they are asked for, or for a page, if
/// they are few enough to be drawn.
bool wants_rows(const Timeline& timeline, const bounds::ProvenIntervals& proven,
                const BoundsOption& option, bool page);

/// Compares maps with the intervals (bounds::judge()). Collective.
ClockBounds judge(trace::Workers& workers, const Timeline& timeline,
                  const bounds::ProvenIntervals& proven, std::span<const ClockMap> maps, bool rows);

}  // namespace entrain::engine
