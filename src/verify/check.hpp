// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "trace/trace.hpp"

namespace entrain::verify {

/// Tests the clock condition on every happened-before edge of a trace (clc.md, sections 2 and 6).
///
/// The matching is the checker's own: it shares nothing with match/ and clc/, so that it can find
/// their mistakes. `maps` holds one clock map per location (stored stamp -> time), `mu` the
/// minimum delay per latency class. Of `options` only alltoallv and init_finalize matter.
/// `source` gives the region names of the worst edges and may be null.
///
/// Edges inside a cycle of equal stamps carry no latency; those inside one that is too wide to be
/// a matter of timer resolution are not counted at all, but reported in `skipped`
/// ("cyclic_components" counts both sorts, "dropped_components" and "dropped_edges" the latter).
/// The caller fills presync and mu_source. Counters of value 0 are left out. Deterministic; runs
/// on the calling thread in O(n log n).
CheckReport check(const trace::Trace& trace, std::span<const ClockMap> maps,
                  const CheckOptions& options, const MuTicks& mu, const trace::Source* source);

/// mu per class, estimated from round trips of point-to-point messages (clc.md, section 4,
/// --mu rtt) on the times that `maps` give.
MuTicks round_trip_mu(const trace::Trace& trace, std::span<const ClockMap> maps);

}  // namespace entrain::verify
