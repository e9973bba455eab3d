// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/entrain.hpp>
#include <entrain/error.hpp>
#include <entrain/export.hpp>
#include <entrain/info.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "base/team.hpp"
#include "bounds/prove.hpp"
#include "engine/timeline.hpp"
#include "explain/explained.hpp"
#include "formats/registry/open.hpp"
#include "output/output.hpp"
#include "page/data.hpp"
#include "trace/witness.hpp"

/// Verbs that the command line calls, for archives and for several files of one run. A verb with a
/// Run is collective: every process of its team calls it with the same arguments and gets the same
/// report or error. `threads` in the options is the number per process.
namespace entrain::engine {

/// The processes of a verb, and its further outputs. Holds references, which must outlive the call.
struct Run {
  Team& processes;
  Progress* progress = nullptr;  ///< may be null
  /// Data of the HTML report, filled at rank 0; null: not wanted.
  page::Data* page = nullptr;
};

using formats::Paths;
inline Paths paths_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

// Functions of entrain.hpp.

Result<ArchiveInfo> inspect(const Paths& archive, unsigned threads, Progress* progress,
                            const formats::ReadOptions& how);
Result<CheckReport> check(const Run& run, const Paths& archive, const CheckOptions& options);
Result<EdgesReport> write_edges(const Paths& archive, const std::filesystem::path& output,
                                const CheckOptions& options, bool force, Progress* progress);
Result<ExportReport> export_trace(const Paths& archive, const std::filesystem::path& output,
                                  const ExportOptions& options, Progress* progress);
Result<MergeReport> merge(const Paths& archive, const std::filesystem::path& output,
                          const MergeOptions& options, Progress* progress);
Result<StragglerReport> find_stragglers(const Paths& paths, const CorrectOptions& options,
                                        Progress* progress);
/// Every process reads and writes the files of its own locations only.
Result<CorrectReport> correct(const Run& run, const Paths& archive,
                              const std::filesystem::path& output, const CorrectOptions& options);

/// Computes the maps that correct() would apply: entrain::clock_maps() of an open source.
Result<ClockMaps> plan_maps(const Run& run, const formats::Source& source,
                            const CorrectOptions& options);

/// Checks the times as measured. The `clocks` of the report are those of explain_clocks().
Result<CheckReport> check_clocks(const Run& run, const Paths& paths, const CorrectOptions& options);

/// The clocks of a trace against common time.
struct ExplainedClocks {
  ClockTable table;
  explain::Told told;                         ///< see Timeline
  std::vector<trace::WrongPair> wrong_pairs;  ///< see Timeline
  IgnoredEdges set_aside;                     ///< see Timeline
};
/// Finds the clocks of a trace, with bounds only if the options ask for them. `loaded`: the trace,
/// if it was read already; null: it is read. `proven`: bounds that are known already; null: they
/// are proved, if wanted. `is_explained`: see TimelineUse.
Result<ExplainedClocks> explain_clocks(const Run& run, const formats::Source& source,
                                       const CorrectOptions& options,
                                       const trace::LoadedTrace* loaded,
                                       const bounds::ProvenIntervals* proven,
                                       bool is_explained = false);

/// Plans a correction without writing it: `after`, `statistics` and `judgement` of the report are
/// those of the times that correct() would write. The report's `output` stays empty.
Result<CorrectReport> plan_correction(const Run& run, const Paths& archive,
                                      const CorrectOptions& options);

/// The rule for an output of a run that reads these traces or tables: none of their files is
/// touched, nor those that an overlay's links lead to. A folder that is given for the files in it
/// is an input as a whole; so is that of an archive's event files.
OutputRule output_rule(const Paths& inputs, bool force = false);
/// The same for a run that also reads the clock tables of the options.
OutputRule output_rule(const Paths& inputs, const CheckOptions& options, bool force = false);

/// The rule for the folder of align().
OutputRule output_rule(const AlignFiles& files);

}  // namespace entrain::engine
