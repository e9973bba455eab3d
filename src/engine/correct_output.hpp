// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "base/big_vector.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "formats/merge_plan.hpp"
#include "formats/source.hpp"
#include "trace/share.hpp"

namespace entrain::engine {

struct TimeRange {
  std::int64_t first = 0, last = 0;
};

/// Smallest and largest time through `maps` of any event or end of a flush. Without events both are
/// the begin of the trace's clock range. Collective; the same at every process.
TimeRange time_range(const trace::Share& share, std::span<const ClockMap> maps);

/// Value of the property ENTRAIN::CORRECTION: "mode=overlay presync=linear gamma=0.99 ...".
/// `gamma`: the one that was chosen.
std::string correction_property(const CorrectOptions& options, const Timeline& timeline,
                                Decimal9 gamma);

/// Facts that a result states about its correction: verdict, edges, and largest bound.
formats::Attributes facts_of(const CorrectReport& report);

/// The times that correct() would write, for a writer of another format.
struct PlannedTimes {
  CorrectReport report;        ///< report of plan_correction()
  std::vector<ClockMap> maps;  ///< map of each location
  /// Between processes, from each cause to its effect; in collectives to each end from the begin
  /// that it waits for last by the new times.
  BigVector<formats::MergeArrow> arrows;
};
Result<PlannedTimes> plan_times(const Run& run, const formats::Source& source,
                                const CorrectOptions& options);

}  // namespace entrain::engine
