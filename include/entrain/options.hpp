// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace entrain {

/// The method that turns stored stamps into the times C, from which the correction starts
/// (docs/method.md, section 3). Most callers should leave it at `automatic`.
enum class Presync {
  /// Takes the one of linear, regression and spline that best predicts sessions that were left out.
  /// With fewer than three sessions takes regression if their exchanges are known, else linear.
  /// Takes linear for a trace that was corrected already, and none for one without ClockOffset
  /// records. A correction goes on as with `causal` if
  /// something is violated, unless the archive was corrected already or has more than 1,024 clocks.
  automatic,
  none,  ///< stamps as stored; use it to see what was recorded
  /// Through the ClockOffset records, to the bit as an OTF2 reader does; but for a record that is
  /// alone, which a reader ignores: it is a constant offset.
  linear,
  regression,  ///< one straight line per clock, by least squares over all sessions
  spline,      ///< a smooth, increasing curve through all sessions
  /// Takes the choice of `automatic` and bends it as little as the trace's messages and collectives
  /// demand. Where no clock was measured, these alone align the clocks. Use it to ask for bending
  /// also with more than 1,024 clocks, which may take longer than all other steps.
  causal,
};

/// The rule that makes one offset of the exchanges of a clock session, if the trace still has them
/// (the recorder's clock_samples.csv). Without them the ClockOffset records are the sessions. Use
/// `mean` or `weighted` to compare with tools that average.
enum class Condensing {
  shortest,  ///< the middle of what all exchanges allow; the shortest round trips allow least
  mean,      ///< mean of the exchanges that were kept (the slowest tenth is not)
  weighted,  ///< the same, weighted by 1 / (round trip)^2
};

/// The ClockOffset records of a trace whose clocks `entrain record` measured apart
/// (CheckOptions::clock_samples).
enum class ClockRecords {
  replace,  ///< they do not count
  /// They count beside the measurements, as exactly as they agree with them: the half-width of all
  /// records of a clock is the largest distance of one from the line between the measurements,
  /// with the half-width of that line. The exchanges of the sessions do not count then, but one
  /// record for each. Use it where the trace has sessions in a long run between two measurements.
  add,
};

/// The sessions that a spline goes through.
enum class SplineSessions {
  undisturbed,  ///< without inner ones that say less than the curve through the others
  all,          ///< every one, as Intel Trace Collector does
};

/// The meaning of calls of Alltoallv and Alltoallw of which a trace records only totals. Where it
/// names their partners, as `entrain record` does, those count instead.
enum class AlltoallvRule {
  ignore,  ///< no edge; counted and reported
  dense,   ///< every contributing begin before every receiving end, as the papers do; use it only
           ///< where every process is known to send to every other one
};

/// The locations that share one physical clock: they get one correction function. Use another value
/// than `automatic` if you know the machine better than its trace does.
enum class ClockDomain {
  /// The locations of a machine node share a clock, unless the trace contradicts it: by clock
  /// offsets that differ, or by a message inside the node that would arrive before it was sent. A
  /// node that is contradicted falls into its processes, and such a process into its locations.
  /// Locations that were not measured and do not communicate contradict nothing.
  automatic,
  location,  ///< every location has a clock of its own
  process,   ///< the locations of a process share one
  node,      ///< the locations of a machine node share one
};

/// What the clocks of a trace are. It says what can be assumed of them before any measurement.
enum class ClockKind {
  /// Wall clocks if the earliest stamp lies between the years 2000 and 2100, else timers.
  automatic,
  timer,  ///< counts freely from anywhere, such as TSC and CLOCK_MONOTONIC_RAW
  wall,   ///< tells the time of day and is slewed, such as CLOCK_REALTIME and gettimeofday
};

/// What is assumed of clocks before any measurement.
struct ClockPriorOption {
  ClockKind kind = ClockKind::automatic;
  /// Largest difference of the mean rates of two clocks, parts per million, 0 to 100,000; empty: by
  /// their kind, 200 for timers and 500 for wall clocks. Where the trace contradicts the limit a
  /// larger one is taken. Set it if you know the clocks.
  std::optional<double> max_mean_rate_ppm;
  bool any_mean_rate = false;  ///< no limit at all; `max_mean_rate_ppm` counts for nothing
};

/// The source of mu, the minimum latency of an edge. A mu above the true latency invents
/// violations.
enum class MuSource {
  /// mu of an earlier correction of the archive, else 0. With 0 a correction places a receive that
  /// it has to move one tick after its send; receives that no send demands to move may stay equal.
  automatic,
  /// A quarter of the shortest round trip of the recorder's clock sessions (clock_delays.csv beside
  /// the archive). A guess: no measurement shows how a round trip is divided between both ways.
  delays,
  round_trip,  ///< a quarter of the smallest round trip of opposite messages: a guess
  one_tick,    ///< one tick for every class: separates ties
  fixed,       ///< `MuOption::seconds` for every class
};

struct MuOption {
  MuSource source = MuSource::automatic;
  double seconds = 0;  ///< only for MuSource::fixed; >= 0
};

/// Proved error bounds of the clocks, from messages, collectives and clock sessions.
struct BoundsOption {
  bool wanted = false;  ///< costs about as much as the matching of the trace
  /// Largest deviation of a clock's rate from its mean at any moment, seen from the reference
  /// clock; parts per million, 0 to 100,000. Empty: taken from the trace. Set it if you know the
  /// crystals.
  std::optional<double> max_rate_ppm;
  bool rows = false;  ///< ClockBounds::rows too
};

/// Options of the check, shared with correct, so that both mean the same edges.
struct CheckOptions {
  Presync presync = Presync::automatic;
  Condensing condensing = Condensing::shortest;  ///< for regression and spline
  /// Folder of measurements by `entrain record`, with or without --clocks-only, of the same run:
  /// they replace the ClockOffset records of the trace, or stand beside them. Empty: the trace's
  /// own. Use it for a trace that another tracer wrote.
  std::string clock_samples;
  ClockRecords clock_records = ClockRecords::replace;  ///< matters with clock_samples only
  SplineSessions spline = SplineSessions::undisturbed;
  /// Matters where clocks are bent or corrected. A check counts the edges inside domains apart,
  /// except with `automatic`.
  ClockDomain clock_domain = ClockDomain::automatic;
  ClockPriorOption clock_prior;
  /// The clock by which the others are set where none was measured, and relative to which bounds
  /// are: an OTF2 location id, or the name of a location or process. "consensus": the time of most
  /// clocks. Empty: that for wall clocks, else the first clock.
  std::string reference;
  MuOption mu;
  AlltoallvRule alltoallv = AlltoallvRule::ignore;
  bool init_finalize = false;  ///< treat MPI_Init and MPI_Finalize as synchronising
  /// Smallest Coverage::share(), 0 to 1, with which a trace without violations is called clean.
  double min_coverage = 0.5;
  bool strict_latency = false;  ///< edges closer than mu make the verdict `violations`, too
  BoundsOption bounds;
  unsigned threads = 0;  ///< worker threads; 0: all cores. The result does not depend on it.
  /// Anonymous memory that the large arrays of a run may take, bytes; the rest lies in mapped files
  /// without a name under $TMPDIR (else /var/tmp), which is slower. 0: no limit. It holds for the
  /// whole process: if several runs work at the same time, the last one to begin decides. Use it
  /// for traces larger than the machine; about 140 bytes per communication event are needed.
  /// What reading files other than OTF2 takes counts, too: where it is more, they are refused.
  std::uint64_t memory_limit_bytes = 0;
  /// The most bytes that a packed file (.json.gz) may hold when unpacked. 0: 64 GiB and, beyond 256
  /// MiB, 250 times its size.
  std::uint64_t max_unpacked_bytes = 0;
};

/// The form in which a corrected archive is stored.
enum class WriteMode {
  rewrite,  ///< self-contained: every stamp rewritten in place, no effective ClockOffset
  overlay,  ///< the clock maps as ClockOffset records, event files linked to the original ones
};

/// The way in which an overlay refers to the original event files.
enum class LinkKind {
  automatic,  ///< reflink, else relative symbolic link, else hard link
  reflink,    ///< copy on write; the original may be deleted
  symbolic,   ///< relative symbolic link; the original must stay where it is
  hard,       ///< hard link; the original may be deleted but must not be written to
};

/// How backward amortization builds up a jump (docs/method.md, section 5).
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

struct CorrectOptions {
  CheckOptions check;
  /// Control variable of forward amortization, in (0, 1]; empty: the control loop chooses. Set it
  /// to compare with other implementations, which mostly take 0.99.
  std::optional<Decimal9> gamma;
  /// Largest displacement that the control loop accepts without lowering the gamma of a clock,
  /// seconds, >= 0; empty: 1.1 times the one that the smallest gamma causes. Not with `gamma`.
  std::optional<double> epsilon_s;
  /// Smallest distance in ticks of consecutive communication events that were at least as far
  /// apart before (docs/method.md, section 4). >= 0.
  std::int64_t delta_ticks = 0;
  /// In place of delta_ticks, for every process the smallest distance of its events: the granule of
  /// its timer.
  bool measure_delta = false;
  /// Slope of the ramps of backward amortization, local ticks per tick, > 0. A smaller one changes
  /// local intervals less and reaches farther back.
  Decimal9 max_slope{10'000'000};
  bool backward = true;
  RampShape ramp = RampShape::taut;  ///< of backward amortization
  /// false: the presync alone is written, and violations that it leaves stay. Use it to judge the
  /// presync by itself.
  bool amortize = true;
  WriteMode mode = WriteMode::rewrite;
  LinkKind link = LinkKind::automatic;
  bool force = false;  ///< replace an unchanged earlier result
  bool verify = true;  ///< read the written archive back and check it
  /// Of spans of services: those that move get an attribute entrain.offset_ns, what was added to
  /// their begin, ns.
  bool mark_offsets = false;
};

}  // namespace entrain
