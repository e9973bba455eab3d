// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/compare.hpp>
#include <entrain/error.hpp>
#include <entrain/export.hpp>
#include <entrain/info.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "base/flat_map.hpp"
#include "base/try.hpp"
#include "base/uncopied.hpp"
#include "formats/merge_plan.hpp"
#include "output/output.hpp"
#include "trace/collectives.hpp"
#include "trace/properties.hpp"
#include "trace/share.hpp"
#include "trace/trace.hpp"
#include "trace/workers.hpp"

/// Formats of traces. Each is a folder that implements Source; formats/registry chooses one.
namespace entrain::formats {

class Rows;
class Source;

/// Clocks and edges that a format names itself: views of arrays of the source.
struct GivenEdges {
  const Clocks& clocks;
  Edges edges;
  ClockKind kind = ClockKind::automatic;  ///< kind of the clocks, if the user names none
  /// True for clocks that a time service disciplines: each is a clock domain, and as many as
  /// possible keep their times.
  bool are_kept = false;
  /// Per edge: 1 if it is weak evidence, such as a link between spans, which may imply no order.
  /// Empty: none is.
  std::span<const char> weak{};
};

/// Times of a new trace, and how to write it.
struct WritePlan {
  trace::Workers& workers;
  const trace::LoadedTrace& loaded;  ///< trace that Source::load() has read
  std::span<const ClockMap> maps;    ///< map of each location: stored stamp -> new time
  /// Map of each location as a reader of the original applies it; empty: markers of the whole trace
  /// keep their times.
  std::span<const ClockMap> measured;
  std::int64_t first_time = 0, last_time = 0;  ///< range of the new times, ticks
  /// New ClockOffset records of each location, in a format that has some; empty: the old ones are
  /// neutralised.
  std::vector<std::vector<trace::ClockOffset>> clock_offsets{};
  /// Properties of the whole trace to set, in a format that has some.
  std::vector<trace::Property> properties{};
  std::string removed_properties{};  ///< prefix of properties to remove; empty: none
  WriteMode mode = WriteMode::rewrite;
  LinkKind link = LinkKind::automatic;
  bool mark_offsets = false;  ///< see CorrectOptions::mark_offsets
  OutputRule rule{};
  Progress* progress = nullptr;  ///< may be null
};

/// A written trace as a reader sees it.
class Reread : public Uncopied {
 public:
  /// The trace; its stamps are those of the original if has_own_stamps() is false.
  [[nodiscard]] virtual const trace::LoadedTrace& loaded() const = 0;
  [[nodiscard]] virtual bool has_own_stamps() const = 0;
  /// The source of what was written, if it names its edges; else null.
  [[nodiscard]] virtual const Source* source() const { return nullptr; }

  std::vector<ClockMap> maps;  ///< map of each location as the reader applies it
  PresyncMethod presync = PresyncMethod::none;
  bool has_new_records = false;  ///< it has records that were missing in the original
};

/// A complete result under a temporary name. Without commit() it is removed.
class Staged : public Uncopied {
 public:
  /// Path of the result after commit().
  [[nodiscard]] virtual std::filesystem::path path() const = 0;
  /// Paths of OTF2 anchors before commit(); empty: the result is of another format.
  [[nodiscard]] virtual std::vector<std::filesystem::path> anchors() const { return {}; }
  /// Numbers of links to files of the original, over all processes.
  [[nodiscard]] virtual LinkCounts links() const { return {}; }
  /// Number of hidden folders of killed runs that were removed.
  [[nodiscard]] virtual std::uint64_t leftovers_removed() const = 0;

  /// Reads back the written trace and compares it with the original, except for times. `original`:
  /// trace of WritePlan::loaded, whose skeletons the Reread may borrow during its life. `anew`:
  /// reads it like any other trace, by its own stamps. Collective. Errors: those of reading;
  /// ErrorKind::output where the files do not hold the events of the original, or cannot be read.
  [[nodiscard]] virtual Result<std::unique_ptr<Reread>> read_back(trace::Workers& workers,
                                                                  trace::LoadedTrace& original,
                                                                  bool anew,
                                                                  Progress* progress) const = 0;

  /// Adds facts about the correction if the result has a place for them. Before commit(). Errors:
  /// ErrorKind::output.
  [[nodiscard]] virtual Result<void> annotate(const Attributes&) const { return {}; }

  /// Gives the result its name. `unproven`: see Source::is_unproven(). Called by rank 0 only.
  /// Errors: ErrorKind::output.
  [[nodiscard]] virtual Result<void> commit(bool unproven) = 0;
};

/// All times of a location or clock.
struct LocationTimes {
  std::vector<std::int64_t> times;         ///< times of all events as a reader returns them, ticks
  std::vector<std::uint8_t> communicates;  ///< 1: end of a message or call
  std::vector<std::uint8_t> in_span;       ///< 1: within TimedEvents::span; empty: all are
  std::vector<std::uint8_t> kinds;         ///< kind of each event; empty: see FileFingerprint
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

/// Access to the times of all events of a trace, for comparisons.
class TimedEvents : public Uncopied {
 public:
  struct Location {
    std::uint64_t id = 0;
    std::string name{};  ///< name if it is no number; else empty
    friend bool operator==(const Location&, const Location&) = default;
  };
  struct File {
    std::filesystem::path path;
    FileFingerprint fingerprint;
  };

  /// Reads the times of a location; may be called again, and by several threads. Errors:
  /// ErrorKind::input for files that changed.
  [[nodiscard]] virtual Result<LocationTimes> times(LocationIndex location) const = 0;
  /// Hashes of the events of a file of `files`, from which its fingerprint is computed. Errors: as
  /// above.
  [[nodiscard]] virtual Result<std::vector<std::uint64_t>> event_hashes(std::size_t) const {
    return std::vector<std::uint64_t>();
  }
  [[nodiscard]] virtual Result<void> check_unchanged() const { return {}; }

  std::vector<Location> locations;
  std::uint64_t resolution_hz = 0;
  SpanOrigin span = SpanOrigin::whole_trace;  ///< origin of LocationTimes::in_span
  std::int64_t begin = 0, end = 0;            ///< first and last time of all events, ticks
  std::vector<File> files;                    ///< files that hold events

 protected:
  /// Widens `begin` and `end` to hold events at these times.
  void cover(std::int64_t first, std::int64_t last) {
    begin = std::exchange(is_empty_, false) ? first : std::min(begin, first);
    end = std::max(end, last);
  }

 private:
  bool is_empty_ = true;
};

/// Clock maps that shift all events of a clock alike, and what they leave out.
struct ConstantShifts {
  std::vector<ClockMap> maps;
  std::vector<std::int64_t> left_out;  ///< per clock: largest distance from its map, ticks
  std::string note;  ///< names the clock of which they leave out most; empty if they are exact
};

/// Shifts each clock by the midpoint of the offsets that its map has during its events. Maps of
/// clocks without events become identities. All clocks of a process get the shift of its first one,
/// since they are in one file.
///
/// Example: a map adds 100 ns to the first event of a clock and 300 ns to the last one. The shift
/// is 200 ns, and up to 100 ns are left out.
ConstantShifts constant_shifts(const trace::Trace& trace, std::span<const ClockMap> maps);

/// Selects calls by clock (position in Clocks::clocks), begin and end, ticks: true for those
/// wanted. Empty: all are.
using WorkFilter = std::function<bool(std::uint32_t, std::uint64_t, std::uint64_t)>;

/// Sentences for reports: views of strings of the source.
struct Remarks {
  std::span<const std::string> notes{};     ///< notes on the format
  std::span<const std::string> warnings{};  ///< doubts that no correction removes
  std::span<const std::string> guesses{};   ///< see CheckReport
};

/// A trace of any format: gives its contents, communication and times, and writes it with other
/// times. Immutable once open; const functions may be called from any thread.
class Source : public Uncopied {
 public:
  /// Path, or paths in a few words, for messages.
  [[nodiscard]] virtual const std::string& path() const = 0;
  /// Name of the format with its article, for messages; example: "an OTF2 archive".
  [[nodiscard]] virtual std::string format_name() const = 0;
  [[nodiscard]] virtual Remarks remarks() const { return {}; }
  /// True if this is a result of this tool with the verdict `unproven`. A mark beside the result
  /// says so; copies may lack it.
  [[nodiscard]] bool is_unproven() const { return is_unproven_; }
  void set_unproven(bool is_unproven) { is_unproven_ = is_unproven; }
  /// Time that opening took, s.
  [[nodiscard]] virtual double open_s() const { return 0; }

  /// Refuses options that the format does not have. Errors: ErrorKind::usage.
  [[nodiscard]] virtual Result<void> check_options(const CheckOptions&) const { return {}; }
  /// Refuses, before long work, a result that cannot be written. Errors: ErrorKind::usage,
  /// ErrorKind::input.
  [[nodiscard]] virtual Result<void> check_writable(WriteMode mode, bool mark_offsets) const = 0;

  /// The clocks and edges of a format that names them; else empty: edges follow from the records
  /// that load() reads. Valid as long as the source.
  [[nodiscard]] virtual std::optional<GivenEdges> given() const { return std::nullopt; }
  /// Reads the communication records of the locations of this process. Only for a format without
  /// given(). `together`: a number per location, or empty; locations with equal numbers get one
  /// owner. Collective.
  [[nodiscard]] virtual Result<trace::LoadedTrace> load(trace::Workers& workers,
                                                        std::span<const std::uint32_t> together,
                                                        Progress* progress) const = 0;
  /// The locations of a loaded trace as clocks with their sessions; `clock_samples`: folder of
  /// samples that were measured apart, or empty. Errors: those of reading samples.
  [[nodiscard]] virtual Result<Clocks> clock_table(const trace::LoadedTrace& loaded,
                                                   const std::string& clock_samples) const = 0;
  /// Name by which a user finds the event of a clock at a stamp: its trace, span and operation; ""
  /// where the format has none, or kept only the names of the worst edges.
  [[nodiscard]] virtual std::string event_name(LocationIndex, std::uint64_t) const { return ""; }
  /// Adds to a report the counts that do not follow from edges: calls without edges, coverage.
  virtual void complete(CheckReport&) const {}
  /// Map of each given clock: given stamp -> stored stamp. They differ after a clock was set back:
  /// given stamps go on increasing. Empty: all are as stored.
  [[nodiscard]] virtual std::vector<ClockMap> stored_times() const { return {}; }
  /// Summary of the contents, for people. Errors: those of load().
  [[nodiscard]] virtual Result<ArchiveInfo> describe(unsigned threads,
                                                     Progress* progress) const = 0;

  /// The collectives of the trace, from the same pairs of calls as its edges. `share`: share of the
  /// loaded trace. Empty: the format has none. Collective: every process gets all of them. Errors:
  /// those of pairing.
  [[nodiscard]] virtual Result<std::optional<trace::Collectives>> collectives(
      const trace::Share& /*share*/, const CheckOptions&, Progress*) const {
    return std::nullopt;
  }

  /// This source, paired anew by the times of these maps. Null: its pairs do not depend on clocks.
  [[nodiscard]] virtual std::unique_ptr<Source> paired_after(std::span<const ClockMap>) const {
    return nullptr;
  }

  /// True if a result of this mode moves each clock as a whole, as whole_shifts() says.
  [[nodiscard]] virtual bool shifts_as_a_whole(WriteMode) const { return false; }
  /// Smallest new time that can be written, ticks. If the first time is below 0, all times
  /// are shifted so that they begin at 0.
  [[nodiscard]] virtual std::int64_t earliest_time() const { return 0; }
  /// The maps nearest to `maps` by which a result moves each clock as a whole: constants, unless a
  /// format stores more.
  [[nodiscard]] virtual ConstantShifts whole_shifts(WriteMode, const trace::Trace& trace,
                                                    std::span<const ClockMap> maps) const {
    return constant_shifts(trace, maps);
  }
  /// Largest new stamp that can be written, ticks.
  [[nodiscard]] virtual std::uint64_t latest_stamp() const { return ~std::uint64_t{0} >> 1; }
  /// Writes the trace beside `output`, and changes only its times. Collective. Errors:
  /// ErrorKind::input for files that changed since they were read, ErrorKind::output.
  [[nodiscard]] virtual Result<std::unique_ptr<Staged>> stage(
      const WritePlan& plan, const std::filesystem::path& output) const = 0;

  /// Refuses a format without merge(). Errors: ErrorKind::usage.
  [[nodiscard]] virtual Result<void> check_mergeable() const;
  /// Writes all events into one trace for viewers. Fills all of the report but `correction` and
  /// `file`. Errors: ErrorKind::usage in a format without it; ErrorKind::input for files that
  /// changed since they were read, ErrorKind::output.
  [[nodiscard]] virtual Result<MergeReport> merge(const MergePlan&) const {
    TRY(check_mergeable());
    return MergeReport();
  }
  /// Size of the files that merge() reads, unpacked; 0: unknown.
  [[nodiscard]] virtual std::uint64_t text_bytes() const { return 0; }

  /// Access to the times of all events. `raw`: as stored, without the clock records of the trace.
  /// Errors: those of load(); ErrorKind::usage for `raw` in a format without clock records.
  [[nodiscard]] virtual Result<std::unique_ptr<TimedEvents>> timed_events(
      bool raw, unsigned threads, Progress* progress) const = 0;
  /// The calls as rows; null if the loaded trace has them in its locations. Memory: all wanted
  /// calls.
  [[nodiscard]] virtual Result<std::shared_ptr<const Rows>> rows(
      const trace::Trace& /*clocks*/, const WorkFilter& /*is_wanted*/ = {}) const {
    return nullptr;
  }

 private:
  bool is_unproven_ = false;
};

/// The name of a trace in reports: its path, or the first one and the number of the others.
std::string shown_name(std::span<const std::filesystem::path> paths);

/// Name of a location for messages: the process of a given clock, else the id of the location.
std::string place_of(const Source& source, const trace::Trace& trace, LocationIndex location);

/// Refuses maps under which time would run backward in a location of this member, and new stamps
/// that cannot be stored (an overlay stores none). Errors: ErrorKind::input.
Result<void> check_maps(const Source& source, const trace::Share& share,
                        std::span<const ClockMap> maps, WriteMode mode);

}  // namespace entrain::formats
