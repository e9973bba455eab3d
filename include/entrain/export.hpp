// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <entrain/options.hpp>
#include <entrain/report.hpp>

namespace entrain {

/// What export_trace() writes (docs/manual/export.md).
enum class ExportFormat {
  perfetto,  ///< a Perfetto trace of TrackEvents
  chrome,    ///< JSON in the Trace Event Format
  csv,       ///< the edges with their margins, as write_edges() writes them
};
/// The word of the command line, e.g. "perfetto".
const char* name_of(ExportFormat format);

struct ExportOptions {
  /// Which edges there are, and by which clocks the times are.
  CheckOptions check;
  ExportFormat format = ExportFormat::perfetto;
  /// The part of the trace that is written, seconds since its first event; ends included. Neither:
  /// all of it, or around the worst edges where it would pass `size_limit_bytes`.
  std::optional<double> from_s, to_s;
  /// Only what is around this many of the worst edges, each in a window of `window_s` seconds.
  std::optional<std::uint32_t> around;
  double window_s = 0.01;
  std::uint64_t size_limit_bytes = 200'000'000;  ///< roughly; only where no part is asked for
  /// Also the times that correct() would write, as a second group of tracks.
  bool both = false;
  bool force = false;  ///< replace an unchanged earlier result
};

struct ExportReport {
  CheckReport counts;  ///< of the edges, by the times written
  ExportFormat format = ExportFormat::perfetto;
  std::string file;                  ///< as written
  std::uint64_t bytes = 0;           ///< its size
  std::uint64_t tracks = 0;          ///< of locations; with `both` twice as many
  std::uint64_t slices = 0;          ///< calls of regions
  std::uint64_t flows = 0;           ///< arrows, two ends each
  std::uint64_t backward = 0;        ///< those of them that end before they begin
  std::uint64_t violations = 0;      ///< marks of violations
  std::vector<std::string> notes{};  ///< what was left out, a sentence each
};

}  // namespace entrain
