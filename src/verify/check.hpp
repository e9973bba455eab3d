// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "base/team.hpp"
#include "trace/partition.hpp"
#include "trace/trace.hpp"

namespace entrain::verify {

/// Tests the clock condition on every happened-before edge of a trace
/// (docs/method.md, sections 2 and 6).
///
/// The matching is the checker's own: it shares nothing with match/ and clc/, so that it can find
/// their mistakes. `maps` holds one clock map per location (stored stamp -> time), `mu` the minimum
/// delay per latency class. Of `options` only alltoallv and init_finalize matter. `source` gives
/// the region names of the worst edges and may be null.
///
/// Edges inside a cycle of equal stamps carry no latency; those inside one that is too wide to be a
/// matter of timer resolution are not counted at all, but reported in `skipped`
/// ("cyclic_components" counts both sorts, "dropped_components" and "dropped_edges" the latter).
/// The caller fills presync and mu_source. Counters of value 0 are left out. `clock_of`: the clock
/// of every location, or empty; edges between locations of one clock are counted in
/// `inside_domains` as well.
///
/// A common call of the team. Every member needs all definitions, but skeletons and maps only of
/// the locations that it owns; nothing is changed, so threads may share them. Every member returns
/// the same report, whatever the team and the partition. O(n log n), in most traces O(n). Errors,
/// the same at every member: ErrorKind::interrupted when `progress` (may be null) says so;
/// ErrorKind::input for a process of 2^32 communication events or more.
Result<CheckReport> check(Team& team, const trace::Partition& partition, const trace::Trace& trace,
                          std::span<const ClockMap> maps, const CheckOptions& options,
                          const MuTicks& mu, const trace::Source* source,
                          const Progress* progress = nullptr,
                          std::span<const std::uint32_t> clock_of = {});

/// The same on the calling thread alone; all locations must be there. Never interrupted. A trace
/// with a process of 2^32 communication events yields a report without edges.
CheckReport check(const trace::Trace& trace, std::span<const ClockMap> maps,
                  const CheckOptions& options, const MuTicks& mu, const trace::Source* source,
                  std::span<const std::uint32_t> clock_of = {});

/// mu per class, estimated from round trips of point-to-point messages (docs/method.md, section 4,
/// --mu rtt) on the times that `maps` give. Team, errors and threads as for check().
Result<MuTicks> round_trip_mu(Team& team, const trace::Partition& partition,
                              const trace::Trace& trace, std::span<const ClockMap> maps,
                              const Progress* progress = nullptr);

/// The same on the calling thread alone.
MuTicks round_trip_mu(const trace::Trace& trace, std::span<const ClockMap> maps);

}  // namespace entrain::verify
