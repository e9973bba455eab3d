// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "causal/base_line.hpp"
#include "causal/context.hpp"
#include "causal/difference_constraints.hpp"
#include "causal/rate_limits.hpp"
#include "clocks/presync.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::causal {

/// The intervals in which edges and clock sessions prove the clocks of a trace to lie. The same at
/// every process.
struct ProvenIntervals {
  ClockBounds about;  ///< everything that does not depend on the maps that are judged
  std::vector<std::uint32_t> clock_of;  ///< per location
  std::vector<BaseLine> lines;          ///< per clock: its error is measured against it
  std::vector<std::int64_t> quantum;    ///< per clock: a stamp may be off by so many ticks
  LocationIndex reference = k_none;     ///< location that gives the time; k_none: no events
  std::int64_t begin = 0, width = 1;    ///< of the windows, ticks of common time
  std::uint32_t windows = 1;
  RateLimits limits;
  ErrorIntervals intervals;  ///< of the errors of the lines
  /// The same if sessions without a half-width have the one that they probably have; empty without
  /// such sessions.
  std::optional<Narrowed> assumed;
};

/// Proves intervals by difference constraints (docs/method.md, section 10; DifferenceConstraints).
///
/// Locations of one of the `domains` share a clock and have one owner. Base lines are the chords of
/// the maps that bend_by_edges() makes of the presync; the largest rate of these bends enters the
/// limit on rates. The mean rate of every clock is within that of Context::prior of the
/// reference's; where the trace contradicts it, a larger limit is found. Sessions count only with a
/// half-width, and against the location whose own records are all 0; without such a location the
/// clock of the sessions is one more clock. There are no intervals, and `about.reason` says why, if
/// the constraints contradict each other under any limit on rates, if to prove them takes too many
/// steps (DifferenceConstraints::is_exhausted()), or if a correction rewrote the archive's time
/// stamps.
///
/// Errors: ErrorKind::input if the limit given in `option` is too small for the trace;
/// ErrorKind::interrupted. Collective over the processes.
Result<ProvenIntervals> prove_intervals(const Context& context, const trace::ClockDomains& domains,
                                        const clocks::Presynchronised& presync,
                                        const BoundsOption& option);

/// Moves maps that leave the proven intervals back inside: in the middle of every window by as
/// little as needed, straight between.
///
/// This breaks no edge that the maps kept, except by the amount that an edge loses inside a window.
/// Proof: the lower ends of all intervals keep every edge, and so do the upper ends. If two sets of
/// times keep every edge, so do the later times of both, and so do the earlier ones.
///
/// `maps`: one per location, the same for all locations of a domain. A map that would decrease
/// stays. A location without any bounded interval follows another location of its process. Returns
/// the largest move, ticks. Collective; the same at every process.
std::int64_t hold_inside(const trace::Share& share, const trace::ClockDomains& domains,
                         const ProvenIntervals& proven, std::span<ClockMap> maps);

/// How far the times that `maps` give may be wrong, per location and, if `rows`, per window.
/// Collective; the same at every process.
ClockBounds judge(const trace::Share& share, const ProvenIntervals& proven,
                  std::span<const ClockMap> maps, bool rows);

}  // namespace entrain::causal
