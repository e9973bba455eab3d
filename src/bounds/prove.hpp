// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <entrain/report.hpp>

#include "bounds/solve_errors.hpp"
#include "causal/project.hpp"
#include "clocks/presync.hpp"
#include "constraints/base_line.hpp"
#include "constraints/context.hpp"
#include "trace/clock_domains.hpp"
#include "trace/share.hpp"

namespace entrain::bounds {

/// Intervals that edges and clock sessions prove for the clocks of a trace. The same at every
/// process.
struct ProvenIntervals {
  ClockBounds about;                    ///< all results that do not depend on the maps to be judged
  std::vector<std::uint32_t> clock_of;  ///< clock of each location
  std::vector<constraints::BaseLine>
      lines;                          ///< base line of each clock: errors are measured against it
  std::vector<std::int64_t> quantum;  ///< error of a stamp, ticks; one per clock
  LocationIndex reference = k_none;   ///< location that gives the time; k_none: no events
  std::int64_t begin = 0, width = 1;  ///< begin and width of the windows, ticks of common time
  std::uint32_t windows = 1;
  RateLimits limits;
  ErrorBounds errors;  ///< errors of the base lines, one per clock
  /// Limits and intervals if sessions without a half-width had their probable one; empty without
  /// such sessions.
  std::optional<Narrowed> assumed;
};

/// Proves intervals by difference constraints (docs/method.md, section 10; difference::System).
///
/// Locations of a domain share a clock and have one owner. Base lines are the chords of the maps
/// that bend_by_edges() makes of the presync; the largest rate of these bends enters the limit on
/// rates. The mean rate of every clock is within the limit of Context::prior from the reference's;
/// where the trace contradicts it, a larger limit is found. Sessions count only with a half-width,
/// and against the location whose own records are all 0; without such a location the clock of the
/// sessions is one more clock. There are no intervals, and `about.reason` says why, if the
/// constraints contradict each other under any limit on rates, if the proof takes too many steps
/// (difference::Effort), or if a correction rewrote the archive's time stamps.
///
/// Errors: ErrorKind::input if the limit given in `option` is too small for the trace;
/// ErrorKind::interrupted. Collective over the processes.
Result<ProvenIntervals> prove_intervals(const constraints::Context& context,
                                        const trace::ClockDomains& domains,
                                        const clocks::Presynchronised& presync,
                                        const BoundsOption& option);

/// Moves maps that leave the proven intervals into these (causal::project_into_intervals).
/// Locations of which nothing is known keep the map of another one of their process.
Result<causal::Projection> project_inside(const constraints::Context& context,
                                          const trace::ClockDomains& domains,
                                          const ProvenIntervals& proven, std::span<ClockMap> maps);

/// Bounds the errors of the times that `maps` give, per location and, if `rows`, per window.
/// Collective; the same at every process.
ClockBounds judge(const trace::Share& share, const ProvenIntervals& proven,
                  std::span<const ClockMap> maps, bool rows);

}  // namespace entrain::bounds
