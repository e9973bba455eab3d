// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace entrain {

/// Most clocks that Presync::automatic bends: with more, the fit may take longer than all other
/// steps together.
inline constexpr std::size_t k_most_bent_clocks = 4'096;

/// The method that maps stored stamps to the times C, from which the correction starts
/// (docs/method.md, section 3). Most callers should leave it at `automatic`.
enum class Presync {
  /// Takes linear, regression or spline by leave-one-out cross-validation over the sessions.
  /// With fewer than three sessions takes regression if their exchanges are known, else linear.
  /// Takes linear for a trace that was corrected already, and none for one without ClockOffset
  /// records. A correction goes on as with `causal` if something is violated, unless the archive
  /// was corrected already or has more than k_most_bent_clocks clocks.
  automatic,
  none,  ///< stamps as stored; use it to see what was recorded
  /// Interpolates the ClockOffset records, to the bit as an OTF2 reader does; a single record,
  /// which a reader ignores, is a constant offset.
  linear,
  regression,  ///< one straight line per clock, by least squares over all sessions
  spline,      ///< a smooth, increasing curve through all sessions
  /// Takes the choice of `automatic` and bends it as little as the trace's messages and collectives
  /// demand. Where no clock was measured, these alone align the clocks. Use it to bend also more
  /// than k_most_bent_clocks clocks.
  causal,
};
inline constexpr std::size_t k_presyncs = 6;
/// Name used in options, e.g. "auto".
const char* name_of(Presync presync);

/// The rule that condenses the exchanges of a clock session into one offset, if the trace still has
/// them (the recorder's clock_samples.csv). Without them the ClockOffset records are the sessions.
/// Use `mean` or `weighted` to compare with tools that average.
enum class Condensing {
  shortest,  ///< middle of the intersection of the intervals of all exchanges
  mean,      ///< mean of the exchanges that were kept (the slowest tenth is not)
  weighted,  ///< the same mean, weighted by 1 / (round trip)^2
};
/// Name used in options, e.g. "shortest".
const char* name_of(Condensing rule);

/// The use of the ClockOffset records of a trace whose clocks `entrain record` measured apart
/// (CheckOptions::clock_samples).
enum class ClockRecords {
  replace,  ///< the measurements replace the records
  /// The records count as well. All records of a clock have one half-width: the largest distance of
  /// a record from the line through the measurements, plus the half-width of that line.
  /// Measurements count as condensed sessions, not as exchanges. Use it where the trace has
  /// sessions in the middle of a long run, and the measurements lie at its ends.
  add,
};

/// The sessions that a spline goes through.
enum class SplineSessions {
  undisturbed,  ///< all but inner ones that are less certain than the curve through the others
  all,          ///< every one, as Intel Trace Collector does
};

/// The meaning of calls of Alltoallv and Alltoallw of which a trace records only totals. Calls that
/// name their partners, as `entrain record` writes them, are not affected.
enum class AlltoallvRule {
  ignore,  ///< no edge; counted and reported
  /// Every contributing begin precedes every receiving end, as in the papers. Use it only where
  /// every process is known to send to every other one.
  dense,
};

/// The locations that share one physical clock: they get one correction function. Use another value
/// than `automatic` if you know the machine better than its trace does.
enum class ClockDomain {
  /// The locations of a machine node share a clock, unless the trace contradicts it: by clock
  /// offsets that differ, or by a message inside the node that would arrive before it was sent. A
  /// contradicted node is split into its processes, a process into its threads and its
  /// accelerators, and each of these into locations. Locations that were not measured and do not
  /// communicate contradict nothing.
  automatic,
  location,  ///< every location has a clock of its own
  process,   ///< the locations of a process share one
  node,      ///< the locations of a machine node share one
};
/// Name used in options and JSON, e.g. "auto".
const char* name_of(ClockDomain rule);

/// The kind of the clocks of a trace, which decides the prior assumptions.
enum class ClockKind {
  /// Wall clocks if the first stamps of most lie between the years 2000 and 2100, else timers.
  automatic,
  timer,  ///< counts freely from any origin, such as TSC and CLOCK_MONOTONIC_RAW
  wall,   ///< shows the time of day and is slewed, such as CLOCK_REALTIME and gettimeofday
};
/// Name used in options, tables and JSON, e.g. "timer".
const char* name_of(ClockKind kind);

/// Prior assumptions about clocks.
struct ClockPriorOption {
  ClockKind kind = ClockKind::automatic;
  /// Largest difference of the mean rates of two clocks, parts per million, 0 to 100,000; empty:
  /// 200 for timers and 500 for wall clocks. If the trace contradicts this default, a larger limit
  /// is taken. A given limit is kept while a larger BoundsOption::max_rate_ppm resolves the
  /// contradiction, else refused; proofs of bounds may take a larger one and say so. Set it if you
  /// know the clocks.
  std::optional<double> max_mean_rate_ppm;
  bool any_mean_rate = false;  ///< no limit at all; `max_mean_rate_ppm` is ignored
};

/// The source of mu, the minimum latency of an edge. A mu above the true latency invents
/// violations.
enum class MuSource {
  /// mu of an earlier correction of the archive, else 0. With 0 a correction places a receive that
  /// must move one tick after its send; a receive that need not move may stay equal.
  automatic,
  /// A quarter of the shortest round trip of the recorder's clock sessions (clock_delays.csv beside
  /// the archive). An estimate: no measurement shows the asymmetry of a round trip.
  delays,
  round_trip,  ///< a quarter of the smallest round trip of opposite messages: an estimate
  one_tick,    ///< one tick for every class: separates ties
  fixed,       ///< `MuOption::seconds` for every class
};

/// The minimum latency of edges.
struct MuOption {
  MuSource source = MuSource::automatic;
  double seconds = 0;  ///< mu of MuSource::fixed, >= 0; ignored with other sources
};

/// Proved error bounds of the clocks, from messages, collectives and clock sessions.
struct BoundsOption {
  bool wanted = false;  ///< compute them; costs about as much as the matching of the trace
  /// Largest deviation of a clock's rate from its mean at any moment, seen from the reference
  /// clock; parts per million, 0 to 100,000. Empty: taken from the trace. Set it if you know the
  /// crystals.
  std::optional<double> max_rate_ppm;
  bool rows = false;  ///< fill ClockBounds::rows, too
};

/// Options of check(), which correct(), align() and export_trace() share, so that all mean the same
/// edges.
struct CheckOptions {
  Presync presync = Presync::automatic;
  Condensing condensing = Condensing::shortest;  ///< ignored by Presync::linear and none
  /// Folder of measurements by `entrain record`, with or without --clocks-only, of the same run:
  /// they replace the ClockOffset records of the trace, or are added to them. Empty: the records of
  /// the trace. Use it for a trace that another tracer wrote.
  std::string clock_samples;
  ClockRecords clock_records = ClockRecords::replace;  ///< ignored without `clock_samples`
  SplineSessions spline = SplineSessions::undisturbed;
  /// Matters where clocks are bent or corrected. A check counts the edges inside domains apart,
  /// except with `automatic`.
  ClockDomain clock_domain = ClockDomain::automatic;
  ClockPriorOption clock_prior;
  /// The clock that keeps its time where none was measured, and to which bounds refer: an OTF2
  /// location id, or the name of a location or process. "consensus": the time of most clocks.
  /// Empty: "consensus" for wall clocks, else the first clock.
  std::string reference;
  MuOption mu;
  AlltoallvRule alltoallv = AlltoallvRule::ignore;
  bool init_finalize = false;  ///< treat MPI_Init and MPI_Finalize as synchronising
  /// Smallest Coverage::share(), 0 to 1, with which a trace without violations is called clean, and
  /// the smallest one of each process: a pair counts for both of its processes.
  double min_coverage = 0.5;
  bool strict_latency = false;  ///< edges closer than mu make the verdict `violations`, too
  BoundsOption bounds;
  unsigned threads = 0;  ///< worker threads; 0: all cores. The result does not depend on it.
  /// Largest anonymous memory of the large arrays of a run, bytes; the rest lies in mapped files
  /// without a name under $TMPDIR (else /var/tmp), which is slower. 0: no limit. The limit is one
  /// for the whole process: the run that begins last sets it. A run needs about 140 bytes per
  /// communication event. Files other than OTF2 are refused if reading them takes more. Use it for
  /// traces larger than the machine's memory.
  std::uint64_t memory_limit_bytes = 0;
  /// Largest unpacked size of a packed file (.gz, .zst), bytes. 0: 250 times its packed size, at
  /// least 256 MiB and at most 64 GiB.
  std::uint64_t max_unpacked_bytes = 0;
  /// More rules by which events of CTF traces are messages; each
  /// "send=NAME:FIELDS,receive=NAME:FIELDS" (docs/manual/ctf.md).
  std::vector<std::string> match{};
  /// Columns of tables of spans, by their names or their numbers from 1, times also with a unit:
  /// "trace=TraceID,start=Begin[ms],host=7" (docs/manual/services.md). Columns not named here are
  /// found by their usual names. Refused for traces without such a table. Not for align(): see
  /// AlignFiles::columns.
  std::string columns{};
};

/// The form in which a corrected archive is stored.
enum class WriteMode {
  rewrite,  ///< self-contained: every stamp rewritten in place, no effective ClockOffset
  overlay,  ///< the clock maps as ClockOffset records, event files linked to the original ones
};
/// Name used in options and JSON, e.g. "overlay".
const char* name_of(WriteMode mode);

/// The way in which an overlay refers to the original event files.
enum class LinkKind {
  automatic,  ///< reflink, else relative symbolic link, else hard link
  reflink,    ///< copy on write; the original may be deleted
  symbolic,   ///< relative symbolic link; the original must stay where it is
  hard,       ///< hard link; the original may be deleted but must not be written to
};
inline constexpr std::size_t k_link_kinds = 4;
/// "reflink", "symbolic link", "hard link"; "" for LinkKind::automatic.
const char* name_of(LinkKind kind);

/// Numbers of links by LinkKind; that of LinkKind::automatic is 0.
using LinkCounts = std::array<std::int64_t, k_link_kinds>;
/// "hard link", or if there are several kinds "reflink (7), hard link (1)"; "" without links.
std::string text_of(const LinkCounts& counts);

/// The shape of the ramp by which backward amortization builds up a jump (docs/method.md,
/// section 5).
enum class RampShape {
  /// The shortest curve between the times after forward amortization and the limits of sends. Its
  /// free end has the slope CorrectOptions::max_slope; overlapping ramps do not add up.
  taut,
  /// Piecewise linear from the start of the amortization interval, jump by jump, as in figure 1 of
  /// Becker, Rabenseifner and Wolf (2007). Use it to compare with other implementations. Where many
  /// jumps lie close to each other, their ramps add up and it takes longer.
  paper,
};

/// A gamma or slope as an exact decimal fraction: `billionths` / 10^9.
struct Decimal9 {
  std::int64_t billionths = 0;
};

/// Options of correct() and clock_maps(). The defaults suit most traces.
struct CorrectOptions {
  CheckOptions check;
  /// Control variable of forward amortization, in (0, 1]; empty: the control loop chooses. Set it
  /// to compare with other implementations, which mostly take 0.99.
  std::optional<Decimal9> gamma;
  /// Largest displacement for which the control loop keeps the gamma of a clock, seconds, >= 0;
  /// empty: 1.1 times the one that the smallest gamma causes. Not with `gamma`.
  std::optional<double> epsilon_s;
  /// Smallest distance in ticks of consecutive communication events that were at least as far
  /// apart before (docs/method.md, section 4). >= 0.
  std::int64_t delta_ticks = 0;
  /// Replaces delta_ticks by the smallest distance of events of each process: the granule of its
  /// timer.
  bool measure_delta = false;
  /// Slope of the free end of a ramp of backward amortization, local ticks per tick, > 0. A smaller
  /// one changes local intervals less and reaches farther back; tight limits make ramps steeper.
  Decimal9 max_slope{10'000'000};
  bool backward = true;              ///< false: no backward amortization; jumps stay
  RampShape ramp = RampShape::taut;  ///< shape of backward amortization
  /// false: only the presync is written, and its violations stay. Use it to judge the presync by
  /// itself.
  bool amortize = true;
  WriteMode mode = WriteMode::rewrite;
  LinkKind link = LinkKind::automatic;  ///< ignored with WriteMode::rewrite
  bool force = false;                   ///< replace an unchanged earlier result
  bool verify = true;                   ///< read the written archive back and check it
  /// Adds an attribute entrain.offset_ns to each span of a service whose begin moves: the ns that
  /// were added to it. ErrorKind::usage for other formats.
  bool mark_offsets = false;
};

}  // namespace entrain
