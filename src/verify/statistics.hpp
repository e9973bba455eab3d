// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "base/team.hpp"
#include "trace/partition.hpp"
#include "trace/trace.hpp"

namespace entrain::verify {

/// What a correction did to the communication events of a trace (docs/method.md, section 7).
///
/// `before` is the trace as it was, seen through its presync maps (C); `after` the corrected one,
/// seen through its own (LC''). Both hold the same events in the same order; only stamps differ.
/// An event counts once per distinct stamp of `before`; displacements are sizes, without sign.
/// Relative changes refer to the interval in C, at least one tick; slopes, of which only stretches
/// count, to the interval in stored stamps of `before`.
///
/// A common call of the team. Every member needs skeletons and maps only of the locations that it
/// owns; every member returns the same statistics, whatever the team and the partition: they are
/// counts, exact sums and maxima, and the percentile is that of all displacements.
///
/// Errors, the same at every member: ErrorKind::input, naming the location, if the events of the
/// traces do not agree in number or kind; ErrorKind::interrupted when `progress` (may be null)
/// says so.
Result<CorrectionStatistics> correction_statistics(Team& team, const trace::Partition& partition,
                                                   const trace::Trace& before,
                                                   std::span<const ClockMap> before_maps,
                                                   const trace::Trace& after,
                                                   std::span<const ClockMap> after_maps,
                                                   const Progress* progress = nullptr);

/// The same on the calling thread alone; all locations must be there.
Result<CorrectionStatistics> correction_statistics(const trace::Trace& before,
                                                   std::span<const ClockMap> before_maps,
                                                   const trace::Trace& after,
                                                   std::span<const ClockMap> after_maps);

}  // namespace entrain::verify
