// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <utility>

#include <entrain/entrain.hpp>

#include "base/team.hpp"
#include "base/try.hpp"
#include "engine/correction.hpp"
#include "engine/verbs.hpp"

namespace entrain {

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

Result<engine::ExplainedClocks> engine::explain_clocks(const Run& run,
                                                       const formats::Source& source,
                                                       const CorrectOptions& options,
                                                       const trace::LoadedTrace* loaded,
                                                       const bounds::ProvenIntervals* proven) {
  Correction correction(run, source, options, loaded, proven);
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

}  // namespace entrain
