// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/compare.hpp>
#include <entrain/distort.hpp>
#include <entrain/drop.hpp>
#include <entrain/error.hpp>
#include <entrain/export.hpp>
#include <entrain/info.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>
#include <entrain/synth.hpp>

/// Entrain: one time base for the event traces of parallel programs.
///
/// Every function takes the path of an OTF2 anchor file or of the folder that holds one, touches
/// nothing but its output folder, neither prints nor exits, and may be called from several threads
/// at once (with different outputs). `progress` may be null.
namespace entrain {

/// Reads an archive and summarises its contents. `max_unpacked_bytes`: as in CheckOptions.
Result<ArchiveInfo> inspect(const std::filesystem::path& archive, unsigned threads = 0,
                            Progress* progress = nullptr, std::uint64_t max_unpacked_bytes = 0);

/// Looks for violations of the clock condition; changes nothing.
Result<CheckReport> check(const std::filesystem::path& archive, const CheckOptions& options,
                          Progress* progress = nullptr);

/// Writes a corrected copy of `archive` into the new folder `output`, and checks the new archive.
Result<CorrectReport> correct(const std::filesystem::path& archive,
                              const std::filesystem::path& output, const CorrectOptions& options,
                              Progress* progress = nullptr);

/// The correction without writing: one clock map per location, in the order of `locations`.
struct ClockMaps {
  std::vector<std::uint64_t> locations;  ///< OTF2 location ids
  std::vector<ClockMap> maps;            ///< stored stamp -> corrected time, ticks
  std::uint64_t resolution_hz = 1;
};
Result<ClockMaps> clock_maps(const std::filesystem::path& archive, const CorrectOptions& options,
                             Progress* progress = nullptr);

/// Finds one time for clocks of any kind of trace, from its edges: the same as correct() without
/// amortization does for an archive that has these edges. Sessions of the clocks count as clock
/// offsets do. Does not print or write, and needs no archive.
///
/// Errors: ErrorKind::usage for edges and clocks that contradict their descriptions, naming the
/// element; ErrorKind::input for sessions out of order and a limit on rates that the edges
/// contradict; ErrorKind::interrupted.
Result<Alignment> align(const Clocks& clocks, const Edges& edges, const AlignOptions& options,
                        Progress* progress = nullptr);

/// The same for tables, which may be larger than the memory. Into `files.output` go maps.csv and
/// the mapped table under its own name. Errors as above, and ErrorKind::input for damaged tables,
/// with line and column.
Result<AlignReport> align(const AlignFiles& files, const AlignOptions& options,
                          Progress* progress = nullptr);

/// Writes the edges of an archive, a training run or spans as a table for align(): CSV, or JSON
/// lines if the name of `output` ends in .jsonl, .ndjson or .json; and its clocks beside it
/// (clocks_file_of()). Both must not exist; `force` replaces unchanged earlier results. align()
/// makes of those of an archive the maps that correct() without amortization makes, to the bit.
Result<EdgesReport> write_edges(const std::filesystem::path& archive,
                                const std::filesystem::path& output, const CheckOptions& options,
                                bool force = false, Progress* progress = nullptr);

/// Writes a trace as a file that viewers of other projects show: calls, messages and collectives on
/// one track per location, and what is violated. `archive` may be files of a training run or of
/// spans, whose calls have tracks of their own. The file must not exist; `options.force` replaces
/// an unchanged earlier result. Memory as check(), for the edges that are written, and for all
/// calls of such files. Errors: those of check(); ErrorKind::usage for options that contradict each
/// other; ErrorKind::output.
Result<ExportReport> export_trace(const std::filesystem::path& archive,
                                  const std::filesystem::path& output, const ExportOptions& options,
                                  Progress* progress = nullptr);

/// Compares the times of two archives of the same trace, event for event.
Result<CompareReport> compare(const std::filesystem::path& a, const std::filesystem::path& b,
                              const std::optional<std::filesystem::path>& truth,
                              const CompareOptions& options, Progress* progress = nullptr);

/// Gives a trace wrong clocks: the original is the ground truth of the result.
Result<DistortReport> distort(const std::filesystem::path& archive,
                              const std::filesystem::path& output, const DistortOptions& options,
                              Progress* progress = nullptr);

/// Loses records of a trace, as tracers do: the original is the ground truth of the result. The
/// same options lose the same records.
Result<DropReport> drop(const std::filesystem::path& archive, const std::filesystem::path& output,
                        const DropOptions& options, Progress* progress = nullptr);

/// Writes a synthetic trace into the new folder `output`: valid, with true clocks, the same for the
/// same options. Memory does not grow with the number of events.
Result<SynthReport> synth(const std::filesystem::path& output, const SynthOptions& options,
                          Progress* progress = nullptr);

/// Version of the library, e.g. "0.1.0".
const char* version();

}  // namespace entrain
