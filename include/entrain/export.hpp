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
  /// Number of the worst edges around which alone the trace is written, `window_s` seconds each.
  std::optional<std::uint32_t> around;
  double window_s = 0.01;
  /// Approximate size of the file beyond which only the worst edges are written; ignored if a part
  /// is asked for.
  std::uint64_t size_limit_bytes = 200'000'000;
  bool both = false;   ///< also the times that correct() would write, as a second group of tracks
  bool force = false;  ///< replace an unchanged earlier result
};

/// Result of export_trace().
struct ExportReport {
  CheckReport counts;  ///< the edges, counted by the times that were written
  ExportFormat format = ExportFormat::perfetto;
  std::string file;                  ///< path of the file
  std::uint64_t bytes = 0;           ///< its size
  std::uint64_t tracks = 0;          ///< tracks of locations; with `both` twice as many
  std::uint64_t slices = 0;          ///< calls of regions
  std::uint64_t flows = 0;           ///< arrows, two ends each
  std::uint64_t backward = 0;        ///< flows that end before they begin
  std::uint64_t violations = 0;      ///< marks of violations
  std::vector<std::string> notes{};  ///< parts that were not written, a sentence each
};

}  // namespace entrain
