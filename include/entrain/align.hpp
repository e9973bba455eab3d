// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

namespace entrain {

/// An exchange of messages between a clock and the master's: at `time` the master's clock showed
/// `time + offset`, certain to half of the round trip.
struct ClockExchange {
  std::uint64_t time = 0;        ///< stamp of the clock, ticks
  std::int64_t offset = 0;       ///< ticks, at most 2^61 in size
  std::uint64_t round_trip = 0;  ///< ticks of the clock
  bool kept = true;              ///< false: among the slowest of its session
};

/// A measurement of a clock: at its stamp `time` the master's clock showed `time + offset`. The
/// master itself has sessions whose offsets and half-widths are 0.
struct ClockSession {
  std::uint64_t time = 0;   ///< stamp of the clock, ticks
  std::int64_t offset = 0;  ///< ticks, at most 2^61 in size
  double half_width = 0;    ///< the offset is certain to within this, ticks; 0: unknown
  /// All exchanges in order of time, one of which is {time, offset}. Empty: not known.
  std::vector<ClockExchange> exchanges{};
};

/// Range of stamps of a clock, both ends included, ticks.
struct StampRange {
  std::uint64_t first = 0, last = 0;
};

/// A process, thread or host whose events are stamped by one clock and stand in the order of their
/// stamps. All members but the name are optional.
struct Clock {
  std::string name{};                     ///< unique name, shown in reports
  ClockKind kind = ClockKind::automatic;  ///< automatic: unknown; see CheckOptions::clock_prior
  std::string domain{};   ///< clocks of equal domains are one physical clock; "": unknown
  std::string process{};  ///< clocks of equal processes are in one process; "": in one of its own
  std::string machine{};  ///< clocks of equal machines are in one machine; "": in one of its own
  /// Span of all events, also those without edges, for which the map should hold. Empty: from the
  /// first to the last end of an edge.
  std::optional<StampRange> events{};
  std::uint64_t granule = 0;  ///< smallest distance of two stamps, ticks; 0: unknown
  /// Bits of the counter that the clock of a table reads: stamps are unwrapped by them. Stamps in
  /// memory must not wrap. 0: unknown.
  unsigned wrap_bits = 0;
  std::vector<StampRange> flushes{};     ///< buffer flushes; a map must not bend inside these
  std::vector<ClockSession> sessions{};  ///< measurements, times strictly increasing
};

/// All clocks of a run. Edges name them by their positions in `clocks`. The first one is the
/// reference unless CheckOptions::reference names another.
struct Clocks {
  std::string name = "the edges";               ///< origin of the edges, named in errors
  std::uint64_t resolution_hz = 1'000'000'000;  ///< ticks per second of all clocks
  std::vector<Clock> clocks{};
  /// True if the sessions hold an earlier correction of an archive instead of measurements.
  bool corrected = false;
};

/// A begin or an end in an instance of a collective.
struct InstanceMember {
  std::uint32_t clock = 0;  ///< position in Clocks::clocks
  std::uint32_t rank = 0;   ///< ignored except for EdgeKind::scan
  std::uint64_t time = 0;   ///< stamp, ticks, up to 2^62
};

/// An instance of a collective: every begin precedes every end of another clock; with
/// EdgeKind::scan only the ends of higher rank. Its members stand together in Edges::members,
/// begins first; those of a scan in order of rank.
struct CollectiveInstance {
  EdgeKind kind = EdgeKind::n_to_n;
  /// True if the ends are nearly simultaneous, as those of a barrier mostly are. Straight lines
  /// through such ends align the clocks if no clock has sessions or shares its hardware, each has
  /// four such ends or more, and the lines leave no violation. Else all edges align them.
  bool ends_coincide = false;
  std::uint64_t first = 0;   ///< position of its first member in Edges::members
  std::uint32_t begins = 0;  ///< number of begins
  std::uint32_t ends = 0;    ///< number of ends, after the begins
};

/// Happened-before edges between clocks: the event at `cause_time` of its clock precedes the one at
/// `effect_time` of another clock. Views of arrays of equal length (edges,), which must outlive the
/// call: nothing is copied. Edges inside one clock are ignored.
///
/// Example: a message is sent at 100 by clock 0 and received at 90 by clock 1. One element in each
/// array: cause_clock {0}, cause_time {100}, effect_clock {1}, effect_time {90}.
struct Edges {
  std::span<const std::uint32_t> cause_clock{};   ///< positions in Clocks::clocks
  std::span<const std::uint64_t> cause_time{};    ///< stamps, ticks, up to 2^62
  std::span<const std::uint32_t> effect_clock{};  ///< positions in Clocks::clocks
  std::span<const std::uint64_t> effect_time{};   ///< stamps, ticks, up to 2^62
  /// Least time from cause to effect, ticks, 0 to 2^52; empty: 0 for all. The larger one of this
  /// and CheckOptions::mu counts. At most 65,535 different ones.
  std::span<const std::int64_t> min_delay{};
  std::span<const EdgeKind> kind{};  ///< kinds, which reports count by; empty: all p2p

  std::span<const CollectiveInstance> instances{};  ///< collectives, beside the single edges
  std::span<const InstanceMember> members{};        ///< begins and ends of all instances
};

/// Options of align().
struct AlignOptions {
  /// Options of edges, sessions and clocks, as for correct(). `mu` must be automatic, one_tick or
  /// fixed; `bounds.wanted` proves how wrong the maps can be. Others: ErrorKind::usage.
  CheckOptions check;
};

/// Report of align().
struct AlignReport {
  CheckReport before;                 ///< edges counted by the clocks as measured
  TimelineReport timeline;            ///< origin of the maps
  CheckReport after;                  ///< edges counted by the maps
  ClockTable clocks;                  ///< the clocks against common time
  std::optional<ClockBounds> bounds;  ///< error bounds of the maps, only if asked for
  std::vector<std::string> notes;     ///< assumptions about the tables, a sentence each
  std::string output{};               ///< folder or table that was written, or ""
  /// True if no clocks meet most edges: the clocks stay as measured, and nothing is written.
  bool contradicts_itself = false;
  /// Numbers of ignored elements: "edges_inside_a_clock", "instances_without_pairs", ...; no zeros.
  Counters left_out;
};

/// Tables of edges and clocks to align, and where the result goes (docs/manual/align.md).
struct AlignFiles {
  std::filesystem::path edges;  ///< CSV with a header, or JSON lines; "-": standard input
  /// Tables of clocks and sessions. Empty: FILE.clocks.csv beside FILE.csv if there is one.
  std::vector<std::filesystem::path> clocks{};
  std::uint64_t resolution_hz = 0;  ///< ticks per second; 0: as the clocks say, else 10^9
  /// Unit of times that are numbers: "ticks", "s", "ms", "us", "ns". "": the suffix of the column's
  /// name (send_us); without a suffix, whole numbers are ticks and decimals seconds.
  std::string unit{};
  /// Columns of `edges`, by their names or their numbers from 1; a unit of times overrides `unit`:
  /// "cause_clock=src,cause_time=sent[us],effect_clock=3".
  std::string columns{};
  std::filesystem::path output{};  ///< new folder for maps and reports; empty: nothing is written
  bool force = false;              ///< replace an unchanged earlier result
  std::filesystem::path apply{};   ///< table of CSV whose times are to be mapped; empty: none
  std::string time_column{};       ///< column of `apply` with stamps
  std::string clock_column{};      ///< column of `apply` with names of clocks
};

/// Path of the table of clocks that belongs to a table of edges: FILE.clocks.csv for FILE.csv.
/// write_edges() writes it, and align() reads it.
std::filesystem::path clocks_file_of(const std::filesystem::path& edges);

/// Result of write_edges().
struct EdgesReport {
  CheckReport counts;                   ///< edges counted by the clocks as measured
  std::string edges_file, clocks_file;  ///< paths of the tables
  std::uint64_t edges = 0;              ///< rows of single edges
  std::uint64_t instances = 0;          ///< instances of collectives
  std::uint64_t members = 0;            ///< rows of begins and ends
  std::uint64_t sessions = 0;           ///< measurements of clocks
};

/// The result of align(): one clock map per clock.
struct Alignment {
  std::vector<ClockMap> maps;  ///< stamp -> common time, ticks; (clocks,), as Clocks::clocks
  AlignReport report;
};

}  // namespace entrain
