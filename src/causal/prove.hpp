// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "causal/base_line.hpp"
#include "causal/bounds_proof.hpp"
#include "causal/context.hpp"
#include "clocks/presync.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::causal {

/// What edges and clock sessions prove of the clocks of a trace. The same at every process.
struct ProvenIntervals {
  ClockBounds about;                    ///< all but what depends on the maps that are judged
  std::vector<std::uint32_t> clock_of;  ///< per location
  std::vector<BaseLine> lines;          ///< per clock: what its error is measured against
  std::vector<std::int64_t> quantum;    ///< per clock: a stamp may be off by so many ticks
  LocationIndex reference = k_none;     ///< location that gives the time; k_none: no events
  std::int64_t begin = 0, width = 1;    ///< of the windows, ticks of common time
  std::uint32_t windows = 1;
  RateLimits limits;
  ErrorIntervals intervals;  ///< of the errors of the lines
};

/// Finds them, by difference constraints (docs/method.md, section 10; Guarantee).
///
/// Locations of one of the `domains` share a clock and have one owner. Base lines are the chords of
/// maps that bend_by_edges() made of the presync, and how these bend is part of what is believed of
/// rates. Sessions count only with an interval, and against the location whose own records are all
/// 0; without such a one the clock of the sessions is one more clock. Where the constraints
/// contradict each other under any limit on rates, `about.reason` tells, and so where an archive's
/// stamps are no clock's.
///
/// Errors: ErrorKind::input if the limit given in `option` is too small for the trace;
/// ErrorKind::interrupted. Collective over the processes.
Result<ProvenIntervals> prove_intervals(const Context& context, const trace::ClockDomains& domains,
                                        const clocks::Presynchronised& presync,
                                        const BoundsOption& option);

/// Moves the maps that leave the proven intervals into them, by as little as that needs in the
/// middle of every window, straight between. That breaks no edge that they kept, but for what an
/// edge loses inside of a window: all lower ends together keep every edge, and so do all upper
/// ends, and with two sets of times that do the later one of each pair, and the earlier.
///
/// `maps`: one per location, the same for all of a domain; those that would decrease stay, and
/// locations of which nothing is bounded follow another one of their process. Returns
/// the largest move, ticks. Collective; the same at every process.
std::int64_t hold_inside(const trace::Share& share, const trace::ClockDomains& domains,
                         const ProvenIntervals& proven, std::span<ClockMap> maps);

/// How far the times that `maps` give may be wrong. Collective; the same at every process.
ClockBounds judge(const trace::Share& share, const ProvenIntervals& proven,
                  std::span<const ClockMap> maps, bool rows);

}  // namespace entrain::causal
