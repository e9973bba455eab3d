// SPDX-License-Identifier: BSD-3-Clause
#include "engine/align.hpp"

#include <optional>
#include <utility>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "diagnosis/clock_table.hpp"
#include "engine/check_times.hpp"
#include "engine/page_survey.hpp"
#include "engine/timeline.hpp"
#include "formats/given_source.hpp"
#include "trace/phase.hpp"
#include "trace/workers.hpp"

namespace entrain {

namespace {

/// True if no clocks meet all edges, and those that were found meet hardly any more than the clocks
/// as measured: the edges contradict each other as a whole, not only those of one clock.
bool is_contradiction(const engine::Timeline& t, const AlignReport& report) {
  constexpr std::uint64_t k_share = 3;  // one edge in so many stays violated
  return t.projection.contradictions > 0 &&
         2 * report.after.violations > report.before.violations &&
         k_share * report.after.violations > report.after.checked_edges;
}

}  // namespace

Result<Alignment> engine::align(const Clocks& clocks, const Edges& edges,
                                const AlignOptions& options, page::Data* page, Progress* progress) {
  const CheckOptions& check = options.check;
  const formats::GivenSource source(clocks, edges);
  trace::Workers workers(check.threads);
  TRY_ASSIGN(Timeline t,
             find_timeline(workers, source, check, {.purpose = Purpose::correction}, progress));
  Alignment result;
  AlignReport& report = result.report;
  std::optional<PageSurvey> survey;
  if (page != nullptr) survey.emplace(workers, source, t);
  trace::begin_phase(progress, "check");
  CheckSetting setting = setting_of(workers, source, t, check, progress);
  setting.survey = survey ? survey->before() : nullptr;
  const OtherTimes found{.maps = t.presync.maps, .survey = survey ? survey->after() : nullptr};
  TRY_ASSIGN(verify::Checks checks, check_both_times(setting, t.loaded, t.measured.maps, &found));
  report.before = std::move(checks.report);
  report.after = *std::move(checks.others);
  report.contradicts_itself = t.told.is_exchanged || is_contradiction(t, report);
  if (report.contradicts_itself) {
    t.presync = t.measured;
    if (t.told.is_exchanged) {
      t.report.reason.clear();  // that of maps that are not taken
    } else {
      t.told.all.clear();  // steps by such maps
    }
    report.before.explanations = t.told.all;
    engine::measure_shift(workers, t);
    setting.survey = found.survey;
    TRY_ASSIGN(report.after, check_times(setting, t.loaded, t.presync.maps));
    report.after.judgement = {Verdict::unproven, Doubt::contradictory_edges};
  }
  report.after.presync = t.presync.method;
  if (check.bounds.wanted && t.told.is_exchanged) {
    report.bounds.emplace().reason = "causes and effects may be exchanged";
  } else if (check.bounds.wanted) {
    TRY_ASSIGN(const bounds::ProvenIntervals proven, prove(workers, t, check.bounds, progress));
    report.bounds =
        judge(workers, t, proven, t.presync.maps, wants_rows(t, proven, check.bounds, true));
  }
  if (!report.contradicts_itself) {  // else no clock is known to be right
    const diagnosis::ClocksOfTrace diagnosed = diagnosed_clocks(workers, t);
    report.clocks =
        diagnosis::clock_table(diagnosed, t.presync.maps, diagnosis::clock_evidence(diagnosed),
                               report.bounds ? &*report.bounds : nullptr);
  }
  take_clocks(source, t.measured, report.before);
  if (survey) {
    TRY_ASSIGN(*page, survey->page(t.measured.maps, t.presync.maps, true, report.bounds));
  }
  if (report.bounds && !check.bounds.rows) report.bounds->rows.clear();
  report.timeline = std::move(t.report);
  report.left_out = std::move(t.left_out);
  result.maps = std::move(t.presync.maps);
  return result;
}

Result<Alignment> align(const Clocks& clocks, const Edges& edges, const AlignOptions& options,
                        Progress* progress) {
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  return engine::align(clocks, edges, options, nullptr, progress);
}

}  // namespace entrain
