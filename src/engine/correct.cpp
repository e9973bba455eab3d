// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <entrain/entrain.hpp>

#include "base/try.hpp"
#include "engine/amortization.hpp"
#include "engine/correct_output.hpp"
#include "engine/correction.hpp"

namespace entrain {

namespace {

/// All phases of a correction but the writing.
Result<void> plan(engine::Correction& correction, engine::Correction::Writing writing) {
  TRY(correction.compute(true, writing));
  TRY(correction.explain(correction.verify_planned()));
  TRY(correction.explain(correction.check_before()));
  TRY(correction.explain(correction.make_page()));
  return correction.check_unchanged();
}

}  // namespace

Result<CorrectReport> correct(const std::filesystem::path& archive,
                              const std::filesystem::path& output, const CorrectOptions& options,
                              Progress* progress) {
  Solo solo;
  return engine::correct({.processes = solo, .progress = progress}, {archive}, output, options);
}

Result<CorrectReport> engine::correct(const Run& run, const Paths& paths,
                                      const std::filesystem::path& output,
                                      const CorrectOptions& options) {
  OutputRule rule;  // rank 0 creates the folder
  if (run.processes.rank() == 0) rule = output_rule(paths, options.check, options.force);
  TRY(run.processes.agree(run.processes.rank() == 0 ? formats::check_output(paths, output, rule)
                                                    : Result<void>()));
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source, open_to_correct(run, paths, options));
  Correction correction(run, *source, options);
  TRY(correction.compute(true, Correction::Writing::yes));
  TRY(correction.explain(correction.write(output, rule)));
  TRY(correction.explain(correction.verify()));
  TRY(correction.explain(correction.check_before()));
  TRY(correction.explain(correction.make_page()));
  CorrectReport report = correction.take_report();
  TRY(correction.commit(report));
  return report;
}

Result<CorrectReport> engine::plan_correction(const Run& run, const Paths& paths,
                                              const CorrectOptions& options) {
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source, open_to_correct(run, paths, options));
  Correction correction(run, *source, options);
  TRY(plan(correction, Correction::Writing::planned));
  return correction.take_report();
}

Result<engine::PlannedTimes> engine::plan_times(const Run& run, const formats::Source& source,
                                                const CorrectOptions& options) {
  Correction correction(run, source, options);
  TRY(plan(correction, Correction::Writing::no));
  PlannedTimes times{.report = {}, .maps = {}, .arrows = correction.arrows()};
  times.report = correction.take_report();
  times.maps = correction.take_maps().maps;
  return times;
}

Result<ClockMaps> engine::plan_maps(const Run& run, const formats::Source& source,
                                    const CorrectOptions& options) {
  TRY(source.check_options(options.check));
  TRY(check_options(options));
  Correction correction(run, source, options);
  TRY(correction.compute(false, Correction::Writing::no));
  TRY(correction.check_unchanged());
  return correction.take_maps();
}

Result<ClockMaps> clock_maps(const std::filesystem::path& archive, const CorrectOptions& options,
                             Progress* progress) {
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  Solo solo;
  const engine::Run run{.processes = solo, .progress = progress};
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source,
             engine::open_to_correct(run, {archive}, options));
  return engine::plan_maps(run, *source, options);
}

Result<CheckReport> engine::check_clocks(const Run& run, const Paths& paths,
                                         const CorrectOptions& options) {
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source, open_to_correct(run, paths, options));
  Correction correction(run, *source, options);
  TRY(correction.compute(true, Correction::Writing::no));
  TRY(correction.explain(correction.check_before()));
  TRY(correction.check_unchanged());
  CorrectReport report = correction.take_report();
  report.before.clocks = std::move(report.clocks);
  return std::move(report.before);
}

Result<engine::ExplainedClocks> engine::explain_clocks(
    const Run& run, const formats::Source& source, const CorrectOptions& options,
    const trace::LoadedTrace* loaded, const bounds::ProvenIntervals* proven, bool is_explained) {
  Correction correction(run, source, options, loaded, proven, is_explained);
  TRY(correction.compute(true, Correction::Writing::no));
  TRY(correction.check_unchanged());
  return correction.take_clocks();
}

Result<ClockTable> clock_table(const std::filesystem::path& trace, const CorrectOptions& options,
                               Progress* progress) {
  Solo solo;
  CorrectOptions proving = options;
  proving.check.bounds.wanted = true;
  const engine::Run run{.processes = solo, .progress = progress};
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source,
             engine::open_to_correct(run, {trace}, proving));
  TRY_ASSIGN(engine::ExplainedClocks clocks,
             engine::explain_clocks(run, *source, proving, nullptr, nullptr));
  return std::move(clocks.table);
}

Result<StragglerReport> engine::find_stragglers(const Paths& paths, const CorrectOptions& options,
                                                Progress* progress) {
  Solo solo;
  const Run run{.processes = solo, .progress = progress};
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  CorrectOptions chosen = options;
  const bool as_recorded = options.check.presync == Presync::none;
  chosen.check.bounds.wanted = !as_recorded;
  if (as_recorded) chosen.amortize = false;
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source, open_to_correct(run, paths, chosen));
  Correction correction(run, *source, chosen);
  TRY(correction.compute(false, Correction::Writing::no));
  TRY_ASSIGN(std::optional<StragglerReport> report, correction.stragglers());
  if (report) {
    for (const std::string& note : source->remarks().notes) report->notes.push_back(note);
  }
  TRY(correction.check_unchanged());
  if (!report) {
    return usage_error(
        "{} is {}, which has no collectives; give a training "
        "run, a trace of Paraver or an OTF2 archive",
        source->path(), source->format_name());
  }
  if (as_recorded) report->reason = "the times are those as recorded (--presync none)";
  return *std::move(report);
}

Result<StragglerReport> find_stragglers(const std::filesystem::path& trace,
                                        const CorrectOptions& options, Progress* progress) {
  return engine::find_stragglers({trace}, options, progress);
}

}  // namespace entrain
