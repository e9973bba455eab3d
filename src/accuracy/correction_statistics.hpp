// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "base/cancel.hpp"
#include "base/team.hpp"
#include "trace/partition.hpp"
#include "trace/trace.hpp"

namespace entrain::accuracy {

/// A trace with one clock map per location: stored stamp -> time.
struct TimedTrace {
  const trace::Trace& trace;
  std::span<const ClockMap> maps;
};

/// Computes the changes of the times of a trace's communication events by a correction
/// (docs/method.md, section 7).
///
/// `before` is the original trace with its presync maps (C); `after` the corrected one with its own
/// maps (LC''). Both hold the same events in the same order; only stamps differ.
/// An event counts once per distinct stamp of `before`; displacements are sizes, without sign.
/// Relative changes refer to the interval in C, at least one tick; slopes, of which only stretches
/// count, to the interval in stored stamps of `before`.
///
/// Example: events at 100, 200, 300 become 100, 210, 330. Two of three events moved, by 15 ticks in
/// the mean and 30 at most. The second interval, 100 ticks long, became 20 ticks longer: a relative
/// change and a slope of 0.2.
///
/// `moved_backward` counts from the maps `start` of `before`; empty: from those that `before` has.
///
/// Collective. Every member needs skeletons and maps only of the locations that it owns; every
/// member returns the same statistics, whatever the team and the partition: they are counts, exact
/// sums and maxima, and the percentile is that of all displacements.
///
/// Errors, the same at every member: ErrorKind::input, naming the location, if the events of the
/// traces do not agree in number or kind; ErrorKind::interrupted when `cancel` asks for it.
Result<CorrectionStatistics> correction_statistics(Team& team, const trace::Partition& partition,
                                                   const TimedTrace& before,
                                                   const TimedTrace& after, const Cancel& cancel,
                                                   std::span<const ClockMap> start = {});

}  // namespace entrain::accuracy
