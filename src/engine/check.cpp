// SPDX-License-Identifier: BSD-3-Clause
#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "engine/clock_warnings.hpp"
#include "engine/guarantee.hpp"
#include "engine/load.hpp"
#include "engine/parallel.hpp"
#include "engine/phase.hpp"
#include "engine/timeline.hpp"

namespace entrain {

Result<CheckReport> check(const std::filesystem::path& archive, const CheckOptions& options,
                          Progress* progress) {
  Solo solo;
  return engine::check(solo, archive, options, progress);
}

Result<CheckReport> engine::check(Team& processes, const std::filesystem::path& archive,
                                  const CheckOptions& options, Progress* progress) {
  const MemoryLimit limit(options.memory_limit_bytes);
  Workers workers(processes, options.threads);
  const TimelineUse use{.graph = options.bounds.wanted};
  TRY_ASSIGN(Timeline timeline, find_timeline(workers, archive, options, use, progress));
  std::optional<ClockBounds> bounds;
  if (options.bounds.wanted) {
    begin_phase(progress, "bounds");
    TRY_ASSIGN(const ProvenIntervals proven,
               prove_intervals(workers, timeline.loaded, timeline.graph, timeline.shared_clocks,
                               timeline.mu, timeline.presync, options.bounds, progress));
    bounds = judge(processes, timeline.loaded, proven, timeline.presync.maps, options.bounds.rows);
  }
  timeline.graph = {};
  begin_phase(progress, "check");
  TRY_ASSIGN(CheckReport report, check(workers, timeline.loaded, timeline.presync.maps, options,
                                       timeline.mu, timeline.domains, progress));
  report.presync = timeline.presync.method;
  report.clocks = std::move(timeline.presync.clocks);
  warn_of_violations(report);
  report.bounds = std::move(bounds);
  return report;
}

}  // namespace entrain
