// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "base/flat_map.hpp"
#include "base/link.hpp"
#include "edges/list.hpp"

namespace entrain::formats {

/// Time of an event, below 2^63 ticks, and whether the event is communication, in 8 bytes.
class EventTime {
 public:
  EventTime(std::uint64_t time, bool communicates) : bits_(time << 1 | (communicates ? 1 : 0)) {}
  [[nodiscard]] std::int64_t time() const { return static_cast<std::int64_t>(bits_ >> 1); }
  [[nodiscard]] bool communicates() const { return (bits_ & 1) != 0; }

 private:
  std::uint64_t bits_;
};

/// Fingerprint of the events of a file except their times.
struct FileFingerprint {
  std::uint64_t events = 0;
  std::uint64_t hash = 0;  ///< hash of all kinds and names, in order

  void add(std::uint64_t event) {
    ++events;
    hash = mix(hash + event);
  }
  friend bool operator==(const FileFingerprint&, const FileFingerprint&) = default;
};

/// The times of all events of a recording.
struct EventTimes {
  /// Index: clock. In order of files and of their texts; an event with begin and end has two times.
  std::vector<std::vector<EventTime>> of_clock;
  std::vector<FileFingerprint> files;  ///< index as Recording::files
};

/// An event with a duration: a span, a kernel, a call.
struct Work {
  std::uint32_t clock = 0;           ///< position in Clocks::clocks
  std::uint64_t begin = 0, end = 0;  ///< ticks; begin <= end
  std::string_view name;             ///< no escapes
  std::string_view row;              ///< row in a viewer, e.g. the thread; empty: unknown
};

/// A trace in a format other than OTF2: its clocks and edges in memory, its events in its files.
/// Immutable after it was read.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;

  /// Writes all files into an existing empty folder, with mapped times and every other byte
  /// unchanged. `maps`: index as Clocks::clocks. Errors: ErrorKind::input for files that changed
  /// since they were read, ErrorKind::output.
  [[nodiscard]] virtual Result<void> write(const std::filesystem::path& folder,
                                           std::span<const ClockMap> maps) const = 0;

  /// Same as write(), but each event that moves gets an attribute with its offset
  /// (CorrectOptions::mark_offsets). Errors: those of write(); ErrorKind::usage for a format
  /// without attributes.
  [[nodiscard]] virtual Result<void> write_marked(const std::filesystem::path&,
                                                  std::span<const ClockMap>) const {
    return fail(ErrorKind::usage, "--mark-offsets needs spans of services");
  }

  /// Writes links to the files, and a manifest by which a viewer shifts them, into an existing
  /// empty folder. `maps`: constant shifts; `final_folder`: see link_file(). Errors: those of
  /// write(); ErrorKind::usage for a format without a manifest.
  [[nodiscard]] virtual Result<LinkCounts> write_overlay(const std::filesystem::path& folder,
                                                         const std::filesystem::path& final_folder,
                                                         std::span<const ClockMap> maps,
                                                         LinkKind kind) const {
    static_cast<void>(folder), static_cast<void>(final_folder), static_cast<void>(maps),
        static_cast<void>(kind);
    return fail(ErrorKind::usage, "--mode overlay needs an OTF2 archive or a training run");
  }

  /// This recording with the pairs that its files have once they are written with `maps`, as pairs
  /// found by times depend on the clocks. Null if they do not. Notes and warnings differ from those
  /// of opening.
  [[nodiscard]] virtual std::unique_ptr<Recording> paired_after(
      std::span<const ClockMap> maps) const {
    static_cast<void>(maps);
    return nullptr;
  }

  /// Reads the files that write() has written into a folder, like any others. Errors: those of
  /// reading; ErrorKind::output if the files do not contain the events of this recording.
  [[nodiscard]] virtual Result<std::unique_ptr<Recording>> read_back(
      const std::filesystem::path& folder) const = 0;

  /// Reads all times again, also those of events without edges. Errors: ErrorKind::input for files
  /// that changed since they were read.
  [[nodiscard]] virtual Result<EventTimes> event_times() const = 0;

  /// Hash per event of a file; event_times() combines them to the fingerprint. `file`: position in
  /// `files`. Errors: those of event_times().
  [[nodiscard]] virtual Result<std::vector<std::uint64_t>> event_hashes(std::size_t file) const = 0;

  /// Reads all events with a duration again, in order of files and their texts. Names are valid
  /// during the call only. Errors: those of event_times() and of `see`.
  [[nodiscard]] virtual Result<void> for_each_work(
      const std::function<Result<void>(const Work&)>& see) const = 0;

  [[nodiscard]] Edges edges() const { return list.view(); }

  Clocks clocks;
  edges::EdgeList list;
  std::uint64_t events = 0;  ///< number of events with a time
  std::uint64_t calls = 0;   ///< number of communication calls, paired or not
  Coverage coverage;
  Counters unmatched, skipped;               ///< see CheckReport; no zeros
  std::vector<std::string> notes;            ///< shown in the report of a correction
  std::vector<std::string> warnings;         ///< shown in all reports; no correction removes them
  std::vector<std::filesystem::path> files;  ///< paths that were read
  std::string format;                        ///< its name, e.g. "Chrome JSON"
  double read_s = 0;                         ///< duration of reading, s
  std::uint64_t bytes = 0;                   ///< size of the files, unpacked
  Counters operations;                       ///< calls per kind
  Counters groups;                           ///< calls per group of processes
  Counters anomalies;                        ///< others than `unmatched`, `skipped`; no zeros
};

}  // namespace entrain::formats
