// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/team.hpp"
#include "base/try.hpp"
#include "base/unfinished.hpp"
#include "engine/correct_output.hpp"
#include "engine/verbs.hpp"
#include "formats/merge_plan.hpp"
#include "formats/registry/open.hpp"
#include "output/output.hpp"
#include "trace/workers.hpp"

namespace entrain {

namespace fs = std::filesystem;

namespace {

/// The row of a clock, and its own bounds.
formats::Attributes facts_of(const CorrectReport& report, const ClockRow* row, std::size_t clock) {
  formats::Attributes facts;
  if (row != nullptr) {
    facts.emplace_back("state", name_of(row->state));
    facts.emplace_back("offset_ns", row->offset_ticks);
    if (row->drift_ppm) facts.emplace_back("drift_ppm", fmt::format("{:.6g}", *row->drift_ppm));
    facts.emplace_back("edges", static_cast<std::int64_t>(row->edges));
    facts.emplace_back("violations_before", static_cast<std::int64_t>(row->violations));
  }
  if (!report.bounds) return facts;
  for (const LocationBounds& one : report.bounds->locations) {
    if (one.location != clock) continue;
    facts.emplace_back("bound_ns", one.worst_ticks);
    facts.emplace_back("windows_without_bound", static_cast<std::int64_t>(one.unbounded));
  }
  return facts;
}

std::vector<formats::MergedClock> clocks_of(const formats::GivenEdges& given,
                                            const engine::PlannedTimes& times) {
  std::vector<formats::MergedClock> clocks;
  for (std::size_t c = 0; c < given.clocks.clocks.size(); ++c) {
    const Clock& clock = given.clocks.clocks[c];
    if (!clock.events) continue;
    // A device has a name of its own; that of a host is its number.
    const std::string& name = clock.name.starts_with(clock.process) ? clock.name : clock.process;
    const ClockRow* row = nullptr;
    for (const ClockRow& one : times.report.clocks.rows) {
      if (one.name == name) row = &one;
    }
    clocks.push_back({.name = name,
                      .title = row != nullptr ? name_of(row->state) : "clock",
                      .attributes = facts_of(times.report, row, c),
                      .map = times.maps[c],
                      .first = clock.events->first,
                      .last = clock.events->last});
  }
  return clocks;
}

}  // namespace

Result<MergeReport> merge(const fs::path& trace, const fs::path& output,
                          const MergeOptions& options, Progress* progress) {
  return engine::merge({trace}, output, options, progress);
}

Result<MergeReport> engine::merge(const Paths& paths, const fs::path& output,
                                  const MergeOptions& options, Progress* progress) {
  const OutputRule rule = output_rule(paths, options.check, options.force);
  TRY(OutputFile::check(output, rule));
  const trace::MemoryLimit limit(options.check.memory_limit_bytes);
  Solo solo;
  const Run run{.processes = solo, .progress = progress};
  TRY_ASSIGN(const std::unique_ptr<formats::Source> source,
             formats::open(paths, options.check.threads, formats::read_options(options.check)));
  TRY(source->check_mergeable());
  TRY(source->check_options(options.check));
  CorrectOptions correction;
  correction.check = options.check;
  TRY_ASSIGN(PlannedTimes times, plan_times(run, *source, correction));
  TRY_ASSIGN(OutputFile file, OutputFile::create(output, rule));
  std::error_code error;
  if (!fs::create_directory(file.workshop(), error)) {
    return output_error("cannot write {}: its folder takes no new file", output.string());
  }
  formats::Attributes facts = engine::facts_of(times.report);
  const bool is_judged = times.report.judgement.has_value();
  if (progress != nullptr) progress->begin("write", source->text_bytes(), "B");
  TRY_ASSIGN(MergeReport report,
             source->merge({.maps = times.maps,
                            .arrows = times.arrows,
                            .title = is_judged ? name_of(times.report.judgement->verdict) : "",
                            .attributes = std::move(facts),
                            .clocks = clocks_of(*source->given(), times),
                            .file = file.workshop() / output.filename(),
                            .folder = file.workshop(),
                            .threads = options.check.threads,
                            .progress = progress}));
  TRY(file.take(file.workshop() / output.filename()));
  TRY(file.commit());
  note_result(output);
  report.correction = std::move(times.report);
  report.file = output.string();
  return report;
}

}  // namespace entrain
