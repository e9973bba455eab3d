// SPDX-License-Identifier: BSD-3-Clause
#include <optional>
#include <utility>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "causal/prove.hpp"
#include "clocks/warnings.hpp"
#include "engine/check_times.hpp"
#include "engine/page_survey.hpp"
#include "engine/recordings.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "session/load.hpp"
#include "session/phase.hpp"

namespace entrain {

Result<CheckReport> check(const std::filesystem::path& archive, const CheckOptions& options,
                          Progress* progress) {
  Solo solo;
  return engine::check({.processes = solo, .progress = progress}, {archive}, options);
}

Result<CheckReport> engine::check(const Run& run, const Paths& paths, const CheckOptions& options) {
  const session::MemoryLimit limit(options.memory_limit_bytes);
  TRY_ASSIGN(const auto recording,
             open_recording(run.processes, paths, options.threads, options.max_unpacked_bytes));
  if (recording) return check_recording(run, *recording, options);
  const std::filesystem::path& archive = paths.front();
  Team& processes = run.processes;
  Progress* const progress = run.progress;
  session::Workers workers(processes, options.threads);
  const TimelineUse use{.purpose = options.bounds.wanted ? Purpose::bounds : Purpose::check};
  TRY_ASSIGN(Timeline timeline, find_timeline(workers, archive, options, use, progress));
  std::optional<ClockBounds> bounds;
  if (options.bounds.wanted) {
    session::begin_phase(progress, "bounds");
    TRY_ASSIGN(const causal::ProvenIntervals proven,
               causal::prove_intervals(causal_context(workers, timeline, progress),
                                       timeline.shared_clocks, timeline.presync, options.bounds));
    const bool rows =
        options.bounds.rows || (run.page != nullptr && few_rows(timeline, proven.windows));
    bounds = causal::judge(timeline.loaded.share(processes), proven, timeline.presync.maps, rows);
    bounds->mu_source = timeline.mu.source;
  }
  timeline.graph = {};
  std::optional<PageSurvey> survey;
  if (run.page != nullptr) survey.emplace(workers, timeline);
  session::begin_phase(progress, "check");
  TRY_ASSIGN(CheckReport report,
             check_times({.workers = workers,
                          .options = options,
                          .mu = timeline.mu,
                          .domains = timeline.domains,
                          .progress = progress,
                          .survey = survey ? survey->before() : nullptr,
                          .witness = timeline.is_matched ? &timeline.witness : nullptr},
                         timeline.loaded, timeline.presync.maps));
  TRY(session::check_unchanged(processes, timeline.loaded));
  report.presync = timeline.presync.method;
  report.clocks = std::move(timeline.presync.clocks);
  clocks::warn_of_violations(report);
  if (survey) {
    TRY_ASSIGN(*run.page, survey->checked(bounds ? &*bounds : nullptr));
    if (bounds && !options.bounds.rows) bounds->rows.clear();
  }
  report.bounds = std::move(bounds);
  return report;
}

}  // namespace entrain
