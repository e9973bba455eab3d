// SPDX-License-Identifier: BSD-3-Clause
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include <entrain/entrain.hpp>

#include "base/team.hpp"
#include "base/try.hpp"
#include "engine/correction.hpp"
#include "engine/verbs.hpp"

namespace entrain {

Result<StragglerReport> engine::find_stragglers(const Run& run, const Paths& paths,
                                                const CorrectOptions& options) {
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
    return fail(ErrorKind::usage, fmt::format("{} is {}, which has no collectives; give a training "
                                              "run, a trace of Paraver or an OTF2 archive",
                                              source->path(), source->format_name()));
  }
  if (as_recorded) report->reason = "the times are those as recorded (--presync none)";
  return *std::move(report);
}

Result<StragglerReport> find_stragglers(const std::filesystem::path& trace,
                                        const CorrectOptions& options, Progress* progress) {
  Solo solo;
  return engine::find_stragglers({.processes = solo, .progress = progress}, {trace}, options);
}

}  // namespace entrain
