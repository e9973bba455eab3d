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

/// A time of an event, below 2^63 ticks, and whether the event is one of communication: 8 bytes.
class EventTime {
 public:
  EventTime(std::uint64_t time, bool communicates) : bits_(time << 1 | (communicates ? 1 : 0)) {}
  [[nodiscard]] std::int64_t time() const { return static_cast<std::int64_t>(bits_ >> 1); }
  [[nodiscard]] bool communicates() const { return (bits_ & 1) != 0; }

 private:
  std::uint64_t bits_;
};

/// What the events of a file are, but for their times.
struct FileMark {
  std::uint64_t events = 0;
  std::uint64_t hash = 0;  ///< of all their kinds and names, in order

  void add(std::uint64_t event) {
    ++events;
    hash = mix(hash + event);
  }
  friend bool operator==(const FileMark&, const FileMark&) = default;
};

/// The times of all events of a recording.
struct EventTimes {
  /// Per clock, in order of the files and of their texts. An event with a begin and an end has two.
  std::vector<std::vector<EventTime>> of_clock;
  std::vector<FileMark> files;  ///< as Recording::files
};

/// An event of a recording that lasts: a span, a kernel, a call.
struct Work {
  std::uint32_t clock = 0;           ///< position in Clocks::clocks
  std::uint64_t begin = 0, end = 0;  ///< ticks; begin <= end
  std::string_view name;             ///< for people, without escapes
  std::string_view row;              ///< of a viewer, e.g. the thread; empty: not known
};

/// A trace in a format other than OTF2: its clocks and edges in memory, its events in its files.
/// Immutable after it was read.
class Recording {
 public:
  Recording() = default;
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  virtual ~Recording() = default;

  /// Writes all files into a folder that exists and is empty, with other times and every other byte
  /// as it was. `maps`: as Clocks::clocks. Errors: ErrorKind::input for files that changed since
  /// they were read, ErrorKind::output.
  [[nodiscard]] virtual Result<void> write(const std::filesystem::path& folder,
                                           std::span<const ClockMap> maps) const = 0;

  /// As write(), and each event that moves says by how much: what CorrectOptions::mark_offsets asks
  /// for. Errors: those of write(); ErrorKind::usage for a format without attributes.
  [[nodiscard]] virtual Result<void> write_marked(const std::filesystem::path&,
                                                  std::span<const ClockMap>) const {
    return fail(ErrorKind::usage, "--mark-offsets needs spans of services");
  }

  /// Writes into a folder that exists and is empty what shifts the files for a viewer, and links
  /// to them. `maps` are constant shifts; `final_folder` as for link_file(). Errors: those of
  /// write(); ErrorKind::usage for a format without such a thing.
  [[nodiscard]] virtual Result<LinkCounts> write_overlay(const std::filesystem::path& folder,
                                                         const std::filesystem::path& final_folder,
                                                         std::span<const ClockMap> maps,
                                                         LinkKind kind) const {
    static_cast<void>(folder), static_cast<void>(final_folder), static_cast<void>(maps),
        static_cast<void>(kind);
    return fail(ErrorKind::usage, "--mode overlay needs an OTF2 archive or a training run");
  }

  /// This recording with the pairs that its files have once they are written with `maps`: pairs
  /// that are found by times depend on the clocks. Null: they do not. Its notes and warnings are
  /// not those of opening.
  [[nodiscard]] virtual std::unique_ptr<Recording> paired_after(
      std::span<const ClockMap> maps) const {
    static_cast<void>(maps);
    return nullptr;
  }

  /// Reads what write() has written into a folder, as anybody else will. Errors: those of reading;
  /// ErrorKind::output if the files do not hold the events of this recording.
  [[nodiscard]] virtual Result<std::unique_ptr<Recording>> read_back(
      const std::filesystem::path& folder) const = 0;

  /// Reads all times again, also of events that are in no edge. Errors: ErrorKind::input for files
  /// that changed since they were read.
  [[nodiscard]] virtual Result<EventTimes> event_times() const = 0;

  /// Per event of a file a hash of what it is: those of which event_times() makes the file's mark.
  /// `file`: position in `files`. Errors: as above.
  [[nodiscard]] virtual Result<std::vector<std::uint64_t>> event_hashes(std::size_t file) const = 0;

  /// Reads all events that last again, file by file, in the order of their texts. Names are valid
  /// during the call only. Errors: as above, and those of `see`.
  [[nodiscard]] virtual Result<void> for_each_work(
      const std::function<Result<void>(const Work&)>& see) const = 0;

  [[nodiscard]] Edges edges() const { return list.view(); }

  Clocks clocks;
  edges::EdgeList list;
  std::uint64_t events = 0;  ///< with a time
  std::uint64_t calls = 0;   ///< of communication, in pairs or not
  Coverage coverage;
  Counters unmatched, skipped;        ///< as CheckReport; no zeros
  std::vector<std::string> notes;     ///< for the report of a correction
  std::vector<std::string> warnings;  ///< for all reports; nothing that a correction can mend
  std::vector<std::filesystem::path> files;  ///< that were read
  std::string format;                        ///< its name, e.g. "Chrome JSON"
  double read_s = 0;                         ///< seconds that reading took
  std::uint64_t bytes = 0;                   ///< size of the files, unpacked
  Counters operations;                       ///< calls per kind
  Counters groups;                           ///< calls per group of processes
  Counters anomalies;  ///< what is missing or odd, beside `unmatched` and `skipped`; no zeros
};

}  // namespace entrain::formats
