// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "base/big_vector.hpp"
#include "engine/verbs.hpp"
#include "formats/merge_plan.hpp"
#include "formats/source.hpp"

namespace entrain::engine {

/// What a result says of its correction: the verdict, edges, and the largest bound.
formats::Attributes facts_of(const CorrectReport& report);

/// The times that correct() would write, for a writer of another format.
struct PlannedTimes {
  CorrectReport report;        ///< that of plan_correction()
  std::vector<ClockMap> maps;  ///< map of each location
  /// Between processes, from each cause to its effect; in collectives to each end from the begin
  /// that it waits for last by the new times.
  BigVector<formats::MergeArrow> arrows;
};
Result<PlannedTimes> plan_times(const Run& run, const formats::Source& source,
                                const CorrectOptions& options);

}  // namespace entrain::engine
