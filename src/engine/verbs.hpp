// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/distort.hpp>
#include <entrain/entrain.hpp>
#include <entrain/error.hpp>
#include <entrain/export.hpp>
#include <entrain/info.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "base/team.hpp"
#include "bounds/prove.hpp"
#include "explain/explained.hpp"
#include "formats/registry/open.hpp"
#include "page/data.hpp"
#include "trace/witness.hpp"

/// Verbs that the command line calls, for archives and for files that are one run. Several
/// processes can do those with a Run together: every process of the team calls them with the same
/// arguments and gets the same report or error; `threads` in the options are those of each.
namespace entrain::engine {

/// Who does the work of a verb, and what else is wanted of it. Holds references, which must outlive
/// the call.
struct Run {
  Team& processes;
  Progress* progress = nullptr;  ///< may be null
  /// To be filled at rank 0 with what a page shows; null: nobody wants a page.
  page::Data* page = nullptr;
};

using formats::Paths;
inline Paths paths_of(const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

/// entrain::inspect().
Result<ArchiveInfo> inspect(const Paths& archive, unsigned threads, Progress* progress,
                            std::uint64_t max_unpacked_bytes);

/// entrain::check().
Result<CheckReport> check(const Run& run, const Paths& archive, const CheckOptions& options);

/// entrain::distort().
Result<DistortReport> distort(const Paths& archive, const std::filesystem::path& output,
                              const DistortOptions& options, Progress* progress);

/// entrain::write_edges().
Result<EdgesReport> write_edges(const Paths& archive, const std::filesystem::path& output,
                                const CheckOptions& options, bool force, Progress* progress);

/// entrain::export_trace().
Result<ExportReport> export_trace(const Paths& archive, const std::filesystem::path& output,
                                  const ExportOptions& options, Progress* progress);

/// entrain::correct(). Every process reads and writes the files of its own locations only.
Result<CorrectReport> correct(const Run& run, const Paths& archive,
                              const std::filesystem::path& output, const CorrectOptions& options);

/// The maps that correct() would write with; entrain::clock_maps() of a source that is open.
Result<ClockMaps> plan_maps(const Run& run, const formats::Source& source,
                            const CorrectOptions& options);

/// The check of the times as measured, whose `clocks` are those of explain_clocks().
Result<CheckReport> check_clocks(const Run& run, const Paths& paths, const CorrectOptions& options);

/// The clocks of a trace against common time, with bounds only if the options ask for them, and why
/// no clocks meet all of its edges.
struct ExplainedClocks {
  ClockTable table;
  explain::Told told;
  std::vector<trace::WrongPair> wrong_pairs;  ///< see Timeline
};
/// `proven`: bounds that are known already; null: they are proved, if wanted.
Result<ExplainedClocks> explain_clocks(const Run& run, const formats::Source& source,
                                       const CorrectOptions& options,
                                       const bounds::ProvenIntervals* proven);

/// Plans a correction without writing: `after`, `statistics` and `judgement` of the report are
/// those of the times that correct() would write. `output` stays empty.
Result<CorrectReport> plan_correction(const Run& run, const Paths& archive,
                                      const CorrectOptions& options);

}  // namespace entrain::engine
