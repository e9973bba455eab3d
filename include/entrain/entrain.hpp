// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <optional>
#include <string>
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
#include <entrain/stragglers.hpp>
#include <entrain/synth.hpp>

/// Entrain: one time base for the event traces of parallel programs.
///
/// A function that takes a *trace* takes any of these formats:
/// * OTF2: the path of an anchor file, or of the folder that holds one;
/// * a training run: a profiler's file of JSON or Perfetto, or the folder of the ranks' files;
/// * spans of services: a file of OTLP (JSON or Protobuf), Jaeger, Zipkin or CSV, or a folder of
///   such files;
/// * Paraver: a .prv file, or a folder with one;
/// * CTF: a folder of traces.
/// Files may be packed (.gz, .zst), except those of OTF2 and CTF.
///
/// drop() takes an OTF2 *archive* only. align() takes edges, of any origin.
///
/// Every function changes nothing but its output, neither prints nor exits, does not throw on bad
/// data, and may be called from several threads at once, with different outputs. `progress` may be
/// null. Errors of all: ErrorKind::usage for options out of range, ErrorKind::input for a trace
/// that is missing, damaged or unsupported, ErrorKind::interrupted if `progress` cancels,
/// ErrorKind::internal for a result that failed its verification; and of all that write:
/// ErrorKind::output, also if the output exists and may not be replaced.
namespace entrain {

/// Reads a trace of any format and summarises its contents. `threads`: worker threads; 0: all
/// cores. `max_unpacked_bytes`, `columns`: as in CheckOptions.
Result<ArchiveInfo> inspect(const std::filesystem::path& trace, unsigned threads = 0,
                            Progress* progress = nullptr, std::uint64_t max_unpacked_bytes = 0,
                            const std::string& columns = {});

/// Finds violations of the clock condition in a trace of any format, and changes nothing.
Result<CheckReport> check(const std::filesystem::path& trace, const CheckOptions& options,
                          Progress* progress = nullptr);

/// Writes a corrected copy of a trace of any format, in its format, into the new folder `output`,
/// and checks the copy. WriteMode::overlay: only for OTF2 archives, training runs and CTF traces.
Result<CorrectReport> correct(const std::filesystem::path& trace,
                              const std::filesystem::path& output, const CorrectOptions& options,
                              Progress* progress = nullptr);

/// A correction without its output: one clock map per location, in the order of `locations`.
struct ClockMaps {
  std::vector<std::uint64_t> locations;  ///< OTF2 location ids, or numbers of clocks
  std::vector<std::string> names;        ///< names of clocks that have no number; else empty
  std::vector<ClockMap> maps;            ///< stored stamp -> corrected time, ticks
  std::uint64_t resolution_hz = 1;       ///< ticks per second
};
/// Computes the clock maps that correct() would write, for a trace of any format. Use it in a tool
/// that has the trace open and applies the maps itself.
Result<ClockMaps> clock_maps(const std::filesystem::path& trace, const CorrectOptions& options,
                             Progress* progress = nullptr);

/// Finds whose clock is wrong, by how much, and how certain that is: what correct() would add to
/// each clock of a trace of any format. Writes nothing. Always proves bounds, whatever
/// `check.bounds.wanted` says. Errors: those of clock_maps().
Result<ClockTable> clock_table(const std::filesystem::path& trace, const CorrectOptions& options,
                               Progress* progress = nullptr);

/// Finds who came late to the collectives of a training run, an OTF2 archive or a Paraver trace, by
/// the times that correct() would write, and how long the others waited. Only arrivals that the
/// proved bounds of the clocks can order count; with Presync::none the times are those as recorded,
/// and nothing is proved. Writes nothing. Errors: those of clock_maps(); ErrorKind::usage for a
/// format without collectives.
Result<StragglerReport> find_stragglers(const std::filesystem::path& trace,
                                        const CorrectOptions& options,
                                        Progress* progress = nullptr);

/// Aligns the clocks of any kind of trace to one common time, by its edges: as correct() without
/// amortization does for an archive with these edges. Sessions count as ClockOffset records do.
/// Needs no trace and writes nothing.
///
/// Errors: ErrorKind::usage for edges and clocks that contradict their descriptions, naming the
/// element; ErrorKind::input for sessions out of order and a limit on rates that the edges
/// contradict; ErrorKind::interrupted.
Result<Alignment> align(const Clocks& clocks, const Edges& edges, const AlignOptions& options,
                        Progress* progress = nullptr);

/// Aligns the edges of tables, which may be larger than the memory: CSV or JSON lines. Writes
/// maps.csv into `files.output`, and the mapped table under its own name. Errors: as above, and
/// ErrorKind::input for damaged tables, with line and column.
Result<AlignReport> align(const AlignFiles& files, const AlignOptions& options,
                          Progress* progress = nullptr);

/// Writes the edges of a trace of any format as a table for align(): CSV, or JSON lines if the name
/// of `output` ends in .jsonl, .ndjson or .json; and its clocks into clocks_file_of(output).
/// Neither may exist; `force` replaces unchanged earlier results. From the edges of an OTF2 archive
/// align() makes the maps that correct() without amortization makes, to the bit.
Result<EdgesReport> write_edges(const std::filesystem::path& trace,
                                const std::filesystem::path& output, const CheckOptions& options,
                                bool force = false, Progress* progress = nullptr);

/// Writes a trace of any format as a file for viewers of other projects: calls, messages and
/// collectives on one track per location, and marks at violations. The calls of training runs and
/// spans have tracks of their own. The file must not exist; `options.force` replaces an unchanged
/// earlier result. Memory: that of check(), plus the edges that are written, plus all calls of a
/// training run or spans. Errors: also ErrorKind::usage for options that contradict each other.
Result<ExportReport> export_trace(const std::filesystem::path& trace,
                                  const std::filesystem::path& output, const ExportOptions& options,
                                  Progress* progress = nullptr);

/// Writes all ranks of a training run as one trace for viewers, by corrected times, with arrows
/// between the ranks and the verdict. The file must not exist; `options.force` replaces an
/// unchanged earlier result. Memory: that of correct(), plus about 64 MB per thread. Errors: also
/// ErrorKind::usage for a trace that is no training run.
Result<MergeReport> merge(const std::filesystem::path& trace, const std::filesystem::path& output,
                          const MergeOptions& options, Progress* progress = nullptr);

/// Compares the times of two versions `a` and `b` of one trace, event for event; with a third
/// version `truth`, whose times are right, also their errors. Any format, but the same for all.
/// Errors: also ErrorKind::input for versions that do not have the same events.
Result<CompareReport> compare(const std::filesystem::path& a, const std::filesystem::path& b,
                              const std::optional<std::filesystem::path>& truth,
                              const CompareOptions& options, Progress* progress = nullptr);

/// Gives a trace of any format wrong clocks: the original is the ground truth of the result. Use it
/// to test corrections. The same options give the same clocks.
Result<DistortReport> distort(const std::filesystem::path& trace,
                              const std::filesystem::path& output, const DistortOptions& options,
                              Progress* progress = nullptr);

/// Removes records of an OTF2 archive, as tracers lose them: the original is the ground truth of
/// the result. The same options remove the same records.
Result<DropReport> drop(const std::filesystem::path& archive, const std::filesystem::path& output,
                        const DropOptions& options, Progress* progress = nullptr);

/// Writes a synthetic trace into the new folder `output`: valid, with true clocks, the same for the
/// same options. Memory does not grow with the number of events.
Result<SynthReport> synth(const std::filesystem::path& output, const SynthOptions& options,
                          Progress* progress = nullptr);

/// Returns the version of the library, e.g. "0.1.0".
const char* version();

}  // namespace entrain
