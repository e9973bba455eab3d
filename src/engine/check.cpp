// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "diagnosis/clock_table.hpp"
#include "engine/check_times.hpp"
#include "engine/page_survey.hpp"
#include "engine/timeline.hpp"
#include "engine/verbs.hpp"
#include "formats/registry/open.hpp"
#include "trace/phase.hpp"

namespace entrain {

namespace {

/// Most events of communication of a trace with violations whose clocks a check estimates. The fit
/// takes most of the time: of 64 clocks with 5 million events 1.2 of 1.4 s.
constexpr std::uint64_t k_most_events_to_estimate = 2'000'000;

}  // namespace

bool engine::is_contradicted(const CheckReport& report) {
  return report.violations > 0 || count_of(report.skipped, "dropped_edges") > 0;
}

Result<std::optional<engine::ExplainedClocks>> engine::explain_check(
    const Run& run, const formats::Source& source, const CheckSetting& setting,
    const trace::LoadedTrace& loaded, bool is_as_read, std::span<const ClockMap> maps,
    const bounds::ProvenIntervals* proven, CheckReport& report) {
  const CheckOptions& options = setting.options;
  const bool is_estimated =
      options.presync == Presync::automatic || options.presync == Presync::causal;
  if (!is_estimated || report.communication_events > k_most_events_to_estimate) return std::nullopt;
  CorrectOptions correction;
  correction.check = options;
  auto clocks =
      explain_clocks({.processes = run.processes, .progress = run.progress}, source, correction,
                     is_as_read ? &loaded : nullptr, proven, setting.timeline.has_no_explanation);
  if (!clocks) {
    // The check itself succeeded: a trace whose clocks cannot be estimated has none.
    if (clocks.error().kind != ErrorKind::interrupted) return std::nullopt;
    return tl::unexpected(std::move(clocks.error()));
  }
  explain::Told told = clocks->told;
  if (setting.told != nullptr) told.doubt(*setting.told);
  if (!clocks->wrong_pairs.empty()) {
    CheckSetting without = setting;
    without.told = &told;
    without.wrong_pairs = clocks->wrong_pairs;
    TRY_ASSIGN(report, check_times(without, loaded, maps));
  }
  if (!clocks->set_aside.empty()) {
    const TimelineUse use{.purpose = Purpose::bounds, .set_aside = &clocks->set_aside};
    TRY_ASSIGN(const Timeline rest,
               find_timeline(setting.workers, source, options, use, run.progress));
    CheckSetting without = setting_of(setting.workers, source, rest, options, run.progress);
    without.survey = setting.survey;
    without.groups = setting.groups;
    without.told = &told;
    TRY_ASSIGN(report, check_times(without, rest.loaded, maps));
  }
  return std::optional(*std::move(clocks));
}

Result<CheckReport> check(const std::filesystem::path& archive, const CheckOptions& options,
                          Progress* progress) {
  Solo solo;
  return engine::check({.processes = solo, .progress = progress}, {archive}, options);
}

Result<CheckReport> engine::check(const Run& run, const Paths& paths, const CheckOptions& options) {
  const trace::MemoryLimit limit(options.memory_limit_bytes);
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source,
             formats::open(run.processes, paths, options.threads, formats::read_options(options)));
  TRY(source->check_options(options));
  trace::Workers workers(run.processes, options.threads);
  const TimelineUse use{.purpose = options.bounds.wanted ? Purpose::bounds : Purpose::check};
  TRY_ASSIGN(Timeline timeline, find_timeline(workers, *source, options, use, run.progress));
  std::optional<bounds::ProvenIntervals> proven;
  std::optional<ClockBounds> bounds;
  if (options.bounds.wanted) {
    TRY_ASSIGN(proven, prove(workers, timeline, options.bounds, run.progress));
    bounds = judge(workers, timeline, *proven, timeline.presync.maps,
                   wants_rows(timeline, *proven, options.bounds, run.page != nullptr));
  }
  if (!timeline.has_given_edges) timeline.graph = {};
  std::optional<PageSurvey> survey;
  if (run.page != nullptr) survey.emplace(workers, *source, timeline);
  trace::begin_phase(run.progress, "check");
  CheckSetting setting = setting_of(workers, *source, timeline, options, run.progress);
  setting.survey = survey ? survey->before() : nullptr;
  std::vector<std::uint32_t> groups;
  if (!timeline.has_given_edges) setting.groups = &groups;
  const std::span<const ClockMap> maps =
      timeline.violated ? timeline.presync.maps : timeline.maps_as_stored();
  TRY_ASSIGN(CheckReport report, check_times(setting, timeline.loaded, maps));
  std::optional<ExplainedClocks> clocks;
  if (is_contradicted(report)) {
    TRY_ASSIGN(clocks, explain_check(run, *source, setting, timeline.loaded, true, maps,
                                     proven ? &*proven : nullptr, report));
  } else {
    clocks = ExplainedClocks{diagnosis::unmoved_clocks(diagnosed_clocks(workers, timeline), groups),
                             timeline.told,
                             {},
                             {}};
  }
  TRY(trace::check_unchanged(run.processes, timeline.loaded));
  take_clocks(*source, timeline.presync, report);
  for (const std::string& note : source->remarks().notes)
    report.estimation.warnings.push_back(note);
  if (clocks) {
    report.clocks = std::move(clocks->table);
    report.explanations = std::move(clocks->told.all);
  }
  if (survey) {
    TRY_ASSIGN(*run.page,
               survey->page(timeline.presync.maps, timeline.presync.maps, false, bounds));
    if (bounds && !options.bounds.rows) bounds->rows.clear();
  }
  report.bounds = std::move(bounds);
  return report;
}

}  // namespace entrain
