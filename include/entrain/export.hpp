// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <entrain/options.hpp>
#include <entrain/report.hpp>

namespace entrain {

/// Formats of export_trace() (docs/manual/export.md).
enum class ExportFormat {
  perfetto,  ///< a Perfetto trace of TrackEvents
  chrome,    ///< JSON in the Trace Event Format
  csv,       ///< the edges with their margins, as write_edges() writes them
};
/// Name used in options and JSON, e.g. "perfetto".
const char* name_of(ExportFormat format);

/// Options of export_trace().
struct ExportOptions {
  CheckOptions check;  ///< choose the edges, and the clocks that times are taken from
  ExportFormat format = ExportFormat::perfetto;
  /// The part of the trace that is written, seconds since its first event; ends included. Neither:
  /// all of it, or around the worst edges where it would pass `size_limit_bytes`.
  std::optional<double> from_s, to_s;
  /// Number of the worst edges; only the trace around these is written, `window_s` seconds each.
  std::optional<std::uint32_t> around;
  double window_s = 0.01;
  /// Approximate size of the file beyond which only the worst edges are written; ignored if a part
  /// is asked for.
  std::uint64_t size_limit_bytes = 200'000'000;
  bool corrected = false;  ///< the times that correct() would write in place of those as measured
  bool both = false;   ///< also the times that correct() would write, as a second group of tracks
  bool force = false;  ///< replace an unchanged earlier result
};

/// Result of export_trace().
struct ExportReport {
  CheckReport counts;  ///< the edges, counted by the times that were written
  ExportFormat format = ExportFormat::perfetto;
  bool corrected = false;            ///< ExportOptions::corrected
  std::string file;                  ///< path of the file
  std::uint64_t bytes = 0;           ///< its size
  std::uint64_t tracks = 0;          ///< tracks of locations; with `both` twice as many
  std::uint64_t slices = 0;          ///< calls of regions
  std::uint64_t flows = 0;           ///< arrows, two ends each
  std::uint64_t backward = 0;        ///< flows that end before they begin
  std::uint64_t violations = 0;      ///< marks of violations
  std::vector<std::string> notes{};  ///< parts that were not written, a sentence each
};

/// Formats of merge() (docs/manual/merge.md).
enum class MergeFormat : std::uint8_t {
  perfetto,  ///< a Perfetto trace of TrackEvents
  chrome,    ///< JSON in the Trace Event Format
};
/// Name used in JSON, e.g. "perfetto".
const char* name_of(MergeFormat format);

/// Options of merge(). The name of the file tells its format: JSON if it ends in .json, .json.gz or
/// .json.zst, else Perfetto, packed if it ends in .gz or .zst.
struct MergeOptions {
  CheckOptions check;  ///< choose the clocks, as for correct()
  bool force = false;  ///< replace an unchanged earlier result
};

/// Numbers of events of a merged trace, as read. Perfetto's are counted again when written.
struct MergedEvents {
  std::uint64_t slices = 0;      ///< events with a length, and pairs of a begin and its end
  std::uint64_t unfinished = 0;  ///< begins without an end; not in `slices`
  std::uint64_t instants = 0;    ///< events at one moment, also those of unknown kinds
  std::uint64_t counters = 0;    ///< values of counters
  std::uint64_t arrow_ends = 0;  ///< begins, steps and ends of the arrows of the input
  std::uint64_t metadata = 0;    ///< names, labels and places of processes and threads, and others
  std::uint64_t arguments = 0;   ///< members of "args", but of counters and metadata

  MergedEvents& operator+=(const MergedEvents& other) {
    slices += other.slices;
    unfinished += other.unfinished;
    instants += other.instants;
    counters += other.counters;
    arrow_ends += other.arrow_ends;
    metadata += other.metadata;
    arguments += other.arguments;
    return *this;
  }
  friend bool operator==(const MergedEvents&, const MergedEvents&) = default;
};

/// Result of merge().
struct MergeReport {
  CorrectReport correction;  ///< edges before, and by the times that are written
  MergeFormat format = MergeFormat::perfetto;
  std::string file;         ///< path of the file
  std::uint64_t bytes = 0;  ///< its size
  std::uint64_t ranks = 0;
  std::uint64_t processes = 0, tracks = 0;  ///< those with a name or events
  std::uint64_t overlapping = 0;            ///< tracks beside others for slices that do not nest
  MergedEvents events;
  /// Arrows that were added: to each end of a collective from the begin that it waited for last,
  /// and from each send to its receive.
  std::uint64_t added_arrows = 0;
  Counters unusual;  ///< what was kept as instants, lost or left out, by what is wrong with it
};

}  // namespace entrain
