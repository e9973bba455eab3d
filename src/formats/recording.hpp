// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "base/edge_list.hpp"
#include "base/link.hpp"
#include "formats/parts/fields.hpp"
#include "formats/source.hpp"

namespace entrain::formats {

/// Contents of files. `trace`: a training run. Only it and spans are corrected in parts.
enum class DocumentKind : std::uint8_t { spans, trace, paraver };

/// Time of an event, below 2^63 ticks, and whether the event is communication, in 8 bytes.
class EventTime {
 public:
  EventTime(std::uint64_t time, bool communicates) : bits_(time << 1 | (communicates ? 1 : 0)) {}
  [[nodiscard]] std::int64_t time() const { return static_cast<std::int64_t>(bits_ >> 1); }
  [[nodiscard]] bool communicates() const { return (bits_ & 1) != 0; }

 private:
  std::uint64_t bits_;
};

/// The times of all events of a recording.
struct EventTimes {
  /// Index: clock. In order of files and of their texts; an event with begin and end has two times.
  std::vector<std::vector<EventTime>> of_clock;
  std::vector<FileFingerprint> files;  ///< index as Recording::files
};

/// Error for a file that has changed since it was read or summarised.
tl::unexpected<Error> has_changed(const std::filesystem::path& file, bool was_summarised);
/// Error for a file whose clocks were not fitted.
tl::unexpected<Error> unknown_part(const std::filesystem::path& file);

/// An event with a duration: a span, a kernel, a call.
struct Work {
  std::uint32_t clock = 0;           ///< position in Clocks::clocks
  std::uint64_t begin = 0, end = 0;  ///< ticks; begin <= end
  std::string_view name;             ///< no escapes
  std::string_view row;              ///< row in a viewer, e.g. the thread; empty: unknown
};

/// True if the name of a file ends as one of JSON, a Perfetto trace, or spans in CSV or Protobuf
/// (.csv, .pb, .binpb, .otlp). The result of a single file is then a file of that name, not a
/// folder.
bool is_file_name(const std::filesystem::path& file);
/// True if the name ends as that of a CSV table.
bool is_table_name(const std::filesystem::path& file);
/// True if the name tells of OTLP as Protobuf.
bool is_message_name(const std::filesystem::path& file);

/// Names of files without their folders, for a sentence; only the first three.
///
/// Example: "a.json, b.json, c.json, ..." for five files.
std::string names_of(std::span<const std::filesystem::path> files);

/// Note about files without events, which are ignored. `of`: the group of files that contains them,
/// with a blank before it; may be empty. `what`: that they do not hold.
///
/// Example: "1 of the files of run holds no events and is left out: notes.json".
std::string note_of_ignored(std::span<const std::filesystem::path> files, const std::string& of,
                            const char* what = "no events");

/// A trace whose clocks and edges fit into memory, while its events stay in its files: training
/// runs, spans. Implements what follows from clocks and edges. Immutable after it was read.
class Recording : public Source {
 public:
  // What a format implements.

  /// Writes all files into an existing empty folder, with mapped times and every other byte
  /// unchanged. `maps`: index as Clocks::clocks. Errors: ErrorKind::input for files that changed
  /// since they were read, ErrorKind::output.
  [[nodiscard]] virtual Result<void> write(const std::filesystem::path& folder,
                                           std::span<const ClockMap> maps) const = 0;

  /// Same as write(), but each event that moves gets an attribute with its offset
  /// (CorrectOptions::mark_offsets). Called only if `has_marks`. Errors: those of write().
  [[nodiscard]] virtual Result<void> write_marked(const std::filesystem::path&,
                                                  std::span<const ClockMap>) const {
    return {};
  }

  /// Writes links to the files, and a manifest by which a viewer shifts them, into an existing
  /// empty folder. `maps`: constant shifts; `final_folder`: see Linker. Called only if
  /// `has_overlay`. Errors: those of write().
  [[nodiscard]] virtual Result<LinkCounts> write_overlay(const std::filesystem::path&,
                                                         const std::filesystem::path&,
                                                         std::span<const ClockMap>,
                                                         LinkKind) const {
    return LinkCounts{};
  }

  /// Adds facts of the correction to what write_overlay() has written. Errors: ErrorKind::output.
  [[nodiscard]] virtual Result<void> annotate_overlay(const std::filesystem::path&,
                                                      const Attributes&) const {
    return {};
  }

  /// Reads the files that write() has written into a folder with these maps. Returns what a reader
  /// finds in them. Errors: those of reading; ErrorKind::output if the files do not contain the
  /// events of this recording.
  [[nodiscard]] virtual Result<std::unique_ptr<Recording>> read_back(
      const std::filesystem::path& folder, std::span<const ClockMap> maps) const = 0;

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

  /// Writes what Source::stage() needs of the files when the clocks are known, beside the maps.
  virtual void pack_fitted(parts::FieldWriter&) const {}

  // What follows for all of them.

  /// Names pairs that were dropped, as the records contradict them: a fault of the tool. `what`:
  /// the records, plural. Does nothing if there are none.
  void set_refuted_aside(std::uint64_t dropped, std::uint64_t total, std::string_view what);
  /// Notes how long reading took since it began, adds notes, and warns of clocks that no edges
  /// connect to most others. Called once, when all is read.
  void finish(std::chrono::steady_clock::time_point begin, std::span<const std::string> more_notes);
  /// Adds a warning of a file that ends inside a record.
  void warn_of_cut(const std::filesystem::path& file);
  [[nodiscard]] const std::string& path() const final { return clocks.name; }
  [[nodiscard]] std::string format_name() const final { return format; }
  [[nodiscard]] Remarks remarks() const final { return {notes, warnings, guesses}; }
  [[nodiscard]] double open_s() const final { return read_s; }
  [[nodiscard]] Result<void> check_options(const CheckOptions& options) const final;
  [[nodiscard]] Result<void> check_writable(WriteMode mode, bool mark_offsets) const final;
  [[nodiscard]] std::optional<GivenEdges> given() const final {
    return GivenEdges{clocks, list.view(), ClockKind::wall, true, weak};
  }
  [[nodiscard]] Result<trace::LoadedTrace> load(trace::Workers&, std::span<const std::uint32_t>,
                                                Progress*) const final {
    return trace::LoadedTrace();
  }
  [[nodiscard]] Result<Clocks> clock_table(const trace::LoadedTrace&,
                                           const std::string&) const final {
    return clocks;
  }
  [[nodiscard]] std::string event_name(LocationIndex clock, std::uint64_t stamp) const final {
    const auto known = event_names.find({clock, stamp});
    return known == event_names.end() ? "" : known->second;
  }
  void complete(CheckReport& report) const final;
  [[nodiscard]] Result<ArchiveInfo> describe(unsigned threads, Progress* progress) const final;
  [[nodiscard]] bool shifts_as_a_whole(WriteMode mode) const final {
    return mode == WriteMode::overlay || has_lines_only;
  }
  [[nodiscard]] Result<std::unique_ptr<Staged>> stage(
      const WritePlan& plan, const std::filesystem::path& output) const final;
  [[nodiscard]] Result<std::unique_ptr<TimedEvents>> timed_events(bool raw, unsigned threads,
                                                                  Progress* progress) const final;
  [[nodiscard]] Result<std::shared_ptr<const Rows>> rows(
      const trace::Trace& trace, const WorkFilter& is_wanted = {}) const final;

  /// For a run that was summarised, whose files are elsewhere: returns the run as it will be read
  /// after it was written with these maps. stage() then writes the clocks. Empty: the files are
  /// here.
  std::function<Result<std::unique_ptr<Recording>>(std::span<const ClockMap>)> written_with;

  bool has_overlay = false;     ///< the format has a manifest for write_overlay()
  bool has_lines_only = false;  ///< no mode has other maps than whole_shifts()
  bool has_marks = false;       ///< the format has attributes for write_marked()
  bool is_one_file = false;     ///< the user named a file, not a folder
  std::string unwritable;       ///< why no copy can be written; empty: one can
  DocumentKind holds = DocumentKind::trace;
  Clocks clocks;
  EdgeList list;
  std::vector<char> weak;    ///< see GivenEdges
  std::uint64_t events = 0;  ///< number of events with a time
  std::uint64_t calls = 0;   ///< number of communication calls, paired or not
  Coverage coverage;
  Counters unmatched, skipped;               ///< see CheckReport; no zeros
  std::vector<SetAside> set_aside;           ///< see CheckReport
  std::vector<std::string> notes;            ///< shown in the report of a correction
  std::vector<std::string> guesses;          ///< see CheckReport
  std::vector<std::string> warnings;         ///< shown in all reports; no correction removes them
  std::vector<std::filesystem::path> files;  ///< paths that were read
  std::string format;                        ///< its name, e.g. "Chrome JSON"
  CheckWords words;                          ///< see CheckReport
  double read_s = 0;                         ///< duration of reading, s
  std::uint64_t bytes = 0;                   ///< size of the files, unpacked
  Counters message_kinds;                    ///< messages per kind
  Counters operations;                       ///< other calls per kind
  Counters groups;                           ///< calls per group of processes
  /// Names of the ends of the worst edges, by clock and stamp; see Source::event_name().
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::string> event_names;
  Counters anomalies;  ///< others than `unmatched`, `skipped`; no zeros

 private:
  [[nodiscard]] Result<std::unique_ptr<Staged>> stage_file(
      const WritePlan& plan, const std::filesystem::path& output) const;
};

}  // namespace entrain::formats
