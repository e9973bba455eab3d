// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <entrain/clocks.hpp>
#include <entrain/options.hpp>

namespace entrain {

/// Kinds of happened-before edges (docs/method.md, section 7).
enum class EdgeKind : std::uint8_t {
  p2p,            ///< a send precedes its receive
  one_to_n,       ///< the begin at the root of a collective precedes all ends, e.g. Bcast
  n_to_one,       ///< all begins of a collective precede the end at the root, e.g. Reduce
  n_to_n,         ///< all begins of a collective precede all ends, e.g. Barrier
  scan,           ///< begins precede the ends of higher ranks
  thread,         ///< fork and join, barriers, creation and locks of threads
  rma,            ///< one-sided communication
  init_finalize,  ///< MPI_Init and MPI_Finalize; see CheckOptions::init_finalize
};
inline constexpr std::size_t k_edge_kinds = 8;
/// Name used in JSON and tables, e.g. "one_to_n".
const char* name_of(EdgeKind kind);

/// Distance between two locations; each class has a minimum latency mu of its own.
enum class LatencyClass : std::uint8_t {
  same_process,  ///< both locations are in one process
  same_node,     ///< both are on one machine node
  other,         ///< they are on different nodes
};
inline constexpr std::size_t k_latency_classes = 3;
/// Name used in JSON, e.g. "same_node".
const char* name_of(LatencyClass latency_class);

/// mu per class, in ticks, >= 0.
using MuTicks = std::array<std::int64_t, k_latency_classes>;

/// An end of an edge, described for people.
struct EdgeEnd {
  std::uint64_t location = 0;     ///< OTF2 location id
  std::string process;            ///< name of the location group, e.g. "MPI Rank 3"
  std::string clock;              ///< owner of these stamps: "MPI Rank 3", "rank 3 device 0"
  std::string region;             ///< innermost region at the event; empty if unknown
  std::uint64_t local_ticks = 0;  ///< stored stamp, ticks
  std::int64_t ticks = 0;         ///< corrected time, ticks
};

/// The edge with the smallest LC(r) - LC(s) of its kind.
struct WorstEdge {
  std::int64_t margin_ticks = 0;  ///< LC(r) - LC(s); negative: violated
  EdgeEnd send;
  EdgeEnd receive;
};

/// Counts of the edges of one kind.
struct EdgeStatistics {
  std::uint64_t count = 0;          ///< pairs (s, r); all pairs of a collective
  std::uint64_t violations = 0;     ///< strict: LC(r) < LC(s)
  std::uint64_t below_latency = 0;  ///< LC(r) < LC(s) + mu, violations included
  std::optional<WorstEdge> worst;   ///< empty without edges
  std::uint64_t equal = 0;          ///< LC(r) == LC(s): not violated
};

/// Named counts in a fixed order, e.g. {"sends", 40}.
using Counters = std::vector<std::pair<std::string, std::uint64_t>>;

/// Returns the value of the counter `name`; 0 if it is not there.
[[nodiscard]] inline std::uint64_t count_of(const Counters& counters, std::string_view name) {
  for (const auto& [key, value] : counters) {
    if (key == name) return value;
  }
  return 0;
}

/// The share of the recorded communication that could be checked (docs/method.md, section 7).
/// Counts operations of single processes: a barrier of eight processes is eight calls.
///
/// Every receive is one of paired, ambiguous, lost, in_gaps; cancelled ones are no receives.
struct Coverage {
  std::uint64_t receives = 0;   ///< completed receives, except from the same location
  std::uint64_t paired = 0;     ///< receives whose send was found
  std::uint64_t ambiguous = 0;  ///< receives to which more than one send could belong
  std::uint64_t lost = 0;       ///< receives whose send the trace seems to lack
  std::uint64_t in_gaps = 0;    ///< receives whose send lies where its process was not recorded
  /// Calls of collectives on communicators of more than one process, including RMA windows.
  std::uint64_t collective_calls = 0;
  /// Calls whose instance is complete and says who waits for whom, even if nobody does: a gather to
  /// which no process contributes a byte, or the creation of a communicator. Calls of Alltoallv,
  /// Alltoallw and neighbourhood collectives count if they name their partners.
  std::uint64_t in_instances = 0;
  /// Calls of Alltoallv and Alltoallw in complete instances, of which only totals are known.
  std::uint64_t alltoallv_skipped = 0;
  /// Calls of neighbourhood collectives that left only Enter and Leave.
  std::uint64_t neighbourhood_skipped = 0;

  /// Returns (paired + in_instances) / (receives + collective_calls), 0 to 1; empty if there are
  /// none.
  [[nodiscard]] std::optional<double> share() const {
    const std::uint64_t all = receives + collective_calls;
    if (all == 0) return std::nullopt;
    return static_cast<double>(paired + in_instances) / static_cast<double>(all);
  }
};

/// Completeness of a trace by its archive properties, which Score-P writes.
struct Completeness {
  /// OTF2::MPI_COMMUNICATION_COMPLETE: false if the recording of MPI was switched off for a while.
  /// Empty: the archive does not say.
  std::optional<bool> mpi_communication;
  /// Names of all properties that deny a completeness, e.g. "OTF2::THREAD_LOCK_EVENT_COMPLETE".
  std::vector<std::string> incomplete;
  /// Properties whose name mentions a filter, with their values.
  std::vector<std::pair<std::string, std::string>> filters;
};

/// The result of a check in one word.
enum class Verdict : std::uint8_t {
  violations,  ///< a receive is earlier than its send
  clean,       ///< enough was checked and nothing is violated, or there is nothing to violate
  unproven,    ///< nothing is violated, but too little was checked to say more
};
/// Name used in JSON, e.g. "clean".
const char* name_of(Verdict verdict);

/// A reason of a verdict `unproven`; others may hold, too.
enum class Doubt : std::uint8_t {
  none,                 ///< the verdict is another one
  contradictory_edges,  ///< edges form cycles that no clocks can meet: some pairs are wrong
  no_edges,             ///< the trace has communication, or unread files, but no edge to check
  low_coverage,         ///< Coverage::share() is below CheckOptions::min_coverage
  clocks_apart,         ///< calls of a common group could not be paired: clocks are not tied
  unsettled_pairs,      ///< corrected times pair operations otherwise than the correction did
  set_aside,            ///< evidence of clocks was set aside: CheckReport::set_aside, explanations
  fast_clocks,          ///< wall clocks would have to run more than 1,000 ppm fast or slow
  tied_clocks,          ///< other clocks, as many as those that stay, could be the right ones
};
/// Name used in JSON, e.g. "low_coverage".
const char* name_of(Doubt doubt);

/// Terms of a format for what is checked: views of static texts.
struct CheckWords {
  std::string_view single = "p2p";       ///< edges of EdgeKind::p2p, in tables
  std::string_view receive = "receive";  ///< what Coverage::receives counts
  std::string_view receives = "receives";
  std::string_view violation = "the receive is earlier than the send";
  std::string_view written = "archive";  ///< what a correction writes
};

/// Times of a clock that were set aside before anything was concluded.
struct SetAside {
  /// "wrong_unit", "no_time", "no_times_of_this_run", "changed_times", "several_clocks",
  /// "counter_wraps", "excused_ends": late ends that other clocks would explain,
  /// "times_shown_twice", "refuted": pairs that their records contradict, "contradicted_session",
  /// "unpaired": a process of whose messages and collective calls too few are paired, or
  /// "unproven_correction": the verdict on the correction that wrote these times was `unproven`.
  std::string kind;
  std::string clock;          ///< its name; empty: of several
  std::uint64_t records = 0;  ///< what was set aside: spans; of several_clocks: calls
  std::uint64_t total = 0;    ///< all of this clock
  bool is_decisive = false;   ///< too much for a verdict `clean`
  std::string reason;         ///< a sentence without its full stop
};

/// The result of a check, with its reason.
struct Judgement {
  Verdict verdict = Verdict::unproven;
  Doubt doubt = Doubt::no_edges;
};

/// A cause of contradictions where no clocks within the assumed rates meet all edges.
enum class ExplanationKind : std::uint8_t {
  step,         ///< a clock was set
  fast_clocks,  ///< clocks run faster or slower than assumed
  weak,  ///< weak evidence: a client did not wait, a pair was guessed where records are missing
  wrong_pairs,  ///< records that do not belong together
  exchanged,    ///< causes are effects, and effects causes
};
/// Name used in JSON, e.g. "wrong_pairs".
const char* name_of(ExplanationKind kind);

/// A reason of the cheapest explanation of all contradictions (docs/method.md, section 8).
struct ClockExplanation {
  ExplanationKind kind{};
  std::vector<std::string> clocks{};          ///< the clock that was set, or both of the pairs
  std::optional<std::uint64_t> time_ticks{};  ///< stamp of the last of `clocks`, at or before it
  std::optional<std::int64_t> size_ticks{};   ///< step: by how much the clock was set
  std::uint64_t evidence = 0;                 ///< contradictions that a step explains, or pairs
  double bits = 0;                            ///< price
  std::string text{};                         ///< a sentence without its full stop
};

/// The method that made the times C of a report.
enum class PresyncMethod : std::uint8_t {
  none,        ///< stamps as stored
  linear,      ///< Presync::linear
  regression,  ///< Presync::regression
  spline,      ///< Presync::spline
  causal,      ///< bent by messages and collectives
  constant,    ///< one shift per file: what viewers of an overlay that is no OTF2 archive see
};
/// Name used in JSON, e.g. "linear".
const char* name_of(PresyncMethod method);

/// Origin of mu, the minimum latency of edges.
enum class MuOrigin : std::uint8_t {
  none,        ///< nothing is known: 0
  archive,     ///< an earlier correction of the archive
  given,       ///< the options
  round_trip,  ///< MuSource::round_trip: an estimate
  delays,      ///< MuSource::delays: an estimate
};
/// Name used in JSON, e.g. "round trip (estimate)".
const char* name_of(MuOrigin origin);

/// Origin of mu, and number of pairs of machines with a mu of their own.
struct MuProvenance {
  MuOrigin origin = MuOrigin::none;
  std::uint64_t pairs = 0;        ///< pairs of machines that MuOrigin::delays knows
  std::uint64_t pairs_above = 0;  ///< pairs whose mu exceeds that of their LatencyClass

  friend bool operator==(const MuProvenance&, const MuProvenance&) = default;
};
/// Text used in JSON: name_of(origin), and if there are pairs above "; more for 2 of 3 pairs of
/// nodes".
std::string text_of(const MuProvenance& mu);

/// Origin of clock sessions.
enum class SessionOrigin : std::uint8_t {
  none,              ///< no session was used
  records,           ///< ClockOffset records of the trace
  measured_offsets,  ///< clock_offsets.csv in CheckOptions::clock_samples
  exchanges,         ///< clock_samples.csv beside the trace, or in CheckOptions::clock_samples
  given,             ///< Clock::sessions of align()
  given_exchanges,   ///< ClockSession::exchanges of align()
};
/// Name used in JSON, e.g. "ClockOffset records"; "" for none.
const char* name_of(SessionOrigin origin);

/// Origin of clock sessions, and how they were used.
struct SessionProvenance {
  SessionOrigin origin = SessionOrigin::none;
  std::optional<Condensing> condensing;  ///< the rule that was used; empty without exchanges
  std::string folder;          ///< CheckOptions::clock_samples; empty: the trace's own sessions
  bool records_added = false;  ///< ClockRecords::add: ClockOffset records of the trace, too

  friend bool operator==(const SessionProvenance&, const SessionProvenance&) = default;
};
/// Text used in JSON, e.g. "clock_samples.csv, shortest round trips of DIR"; "" for none.
std::string text_of(const SessionProvenance& sessions);

/// Quality of the presync of a location's clock. Bounds are empty where nothing is known: no
/// half-width was recorded, or the sessions are too few to show how much the clock wanders.
struct ClockQuality {
  std::uint64_t location = 0;  ///< OTF2 location id
  std::uint64_t sessions = 0;  ///< measurements of the clock
  std::uint64_t samples = 0;   ///< exchanges of these sessions that were kept; 0: records only
  /// Inner sessions that the method left out as disturbed: far less certain than the others.
  std::uint64_t disturbed = 0;
  double slope_ppm = 0;  ///< mean rate of global time against this clock, minus one, ppm
  /// Distance of the sessions from the fit; 0 for a curve through the sessions.
  double residual_rms_ticks = 0;
  double residual_max_ticks = 0;
  /// Distance of a session from the fit to the other sessions; inner sessions only.
  double left_out_rms_ticks = 0;
  double left_out_max_ticks = 0;
  /// Largest error possible at a session.
  std::optional<double> interval_bound_ticks;
  /// Largest error expected between sessions: the error that the sessions allow there, plus the
  /// largest distance of a left-out session. With a single session: over the whole run, by the
  /// rates that clocks are assumed to have.
  std::optional<double> predicted_bound_ticks;
};

/// Origin of the presync maps.
struct ClockEstimation {
  /// Why `auto` chose the method, or the finding of `causal`; empty if another one was asked for.
  std::string reason;
  SessionProvenance sessions;        ///< none with PresyncMethod::none
  std::vector<ClockQuality> clocks;  ///< one per location with sessions, in their order
  /// Reasons to doubt the clocks, one sentence each: off by more than a second, or running more
  /// than 1,000 ppm too fast or too slow.
  std::vector<std::string> warnings;
};

/// Edges between locations that share one clock. The counts of their kinds include them.
struct InsideDomains {
  std::uint64_t count = 0;       ///< edges
  std::uint64_t violations = 0;  ///< no correction of that clock can remove them
};

/// Bounds on the error of a location against the reference clock, over all windows (slices of time)
/// in which it has events.
struct LocationBounds {
  std::uint64_t location = 0;         ///< OTF2 location id
  std::string process;                ///< name of the location group
  std::uint64_t windows = 0;          ///< number of windows in which it has events
  std::uint64_t unbounded = 0;        ///< windows in which nothing ties it to the reference
  std::int64_t worst_ticks = 0;       ///< largest bound of the other windows
  std::int64_t worst_time_ticks = 0;  ///< time in the middle of that window, as checked
  std::int64_t median_ticks = 0;      ///< median bound of the other windows
  /// Largest distance of the time itself from the possible interval, in the middle of a window.
  std::int64_t outside_ticks = 0;
  std::int64_t outside_time_ticks = 0;  ///< time in the middle of that window, as checked
  /// Largest bound under the assumption that sessions without a half-width have the one that they
  /// probably have; empty without such sessions.
  std::optional<std::int64_t> assumed_ticks;
};

/// The proof for one location in one window, for a table or a plot.
struct BoundsRow {
  std::uint64_t location = 0;     ///< OTF2 location id
  std::uint64_t local_ticks = 0;  ///< stored stamp in the middle of the window
  std::int64_t time_ticks = 0;    ///< its time, as checked
  bool bounded = false;           ///< false: the following members are undefined
  /// Earliest and latest possible time, on the reference clock as checked.
  std::int64_t earliest_ticks = 0, latest_ticks = 0;
  std::int64_t bound_ticks = 0;  ///< largest error possible of any event of the window
  /// The same error under the assumption of LocationBounds::assumed_ticks; empty without such
  /// sessions.
  std::optional<std::int64_t> assumed_ticks;
};

/// Origin of a limit or kind that ClockBounds assumes.
enum class LimitOrigin : std::uint8_t {
  given,   ///< the options
  trace,   ///< the trace, which contradicts a smaller limit
  stamps,  ///< the range of the stored stamps
  kind,    ///< the kind of the clocks
  off,     ///< nothing is assumed
};
/// Name used in JSON, e.g. "trace".
const char* name_of(LimitOrigin origin);

/// Proved error bounds: the largest distance of each clock's times from those of a reference clock,
/// if no clock's rate leaves its mean by more than a limit. An error that all clocks share is
/// invisible in any trace; the reference is right by definition.
struct ClockBounds {
  std::string reason;             ///< reason why there are no bounds; then all else is empty
  std::uint64_t reference = 0;    ///< OTF2 location id of the reference clock
  std::string reference_process;  ///< name of its location group
  double max_rate_ppm = 0;        ///< the limit
  LimitOrigin max_rate_source = LimitOrigin::trace;  ///< given or trace
  /// Least limit that the trace does not contradict; empty: the search for it took too many steps.
  std::optional<double> least_rate_ppm;
  /// Clocks with one session, which says nothing of their rates.
  std::uint64_t measured_once = 0;
  ClockKind clock_kind = ClockKind::timer;              ///< timer or wall
  LimitOrigin clock_kind_source = LimitOrigin::stamps;  ///< given or stamps
  /// The limit on the mean rates of all clocks, against the reference, that was assumed; empty if
  /// none was.
  std::optional<double> mean_rate_ppm;
  /// kind, given, off, or trace: that of the kind, or the one given, contradicts the trace.
  LimitOrigin mean_rate_source = LimitOrigin::kind;
  /// Approximate smallest limit that the trace does not contradict; only with LimitOrigin::trace.
  std::optional<double> least_mean_rate_ppm;
  MuProvenance mu_source;      ///< see CheckReport::mu_source
  std::uint64_t sessions = 0;  ///< measurements with an interval that were used
  /// Measurements without an interval, which count in LocationBounds::assumed_ticks.
  std::uint64_t assumed_sessions = 0;
  std::int64_t assumed_half_width_ticks = 0;  ///< largest half-width that was assumed of a clock
  std::uint64_t windows = 0;                  ///< number of slices of the run
  std::int64_t window_ticks = 0;              ///< length of a slice
  /// Largest distance by which `correct` moved presync times to bring them inside, ticks; 0 in
  /// `check`.
  std::int64_t held_ticks = 0;
  /// A session of all clocks that would halve the widest interval or more.
  struct HelpfulSession {
    std::int64_t time_ticks = 0;        ///< middle of the widest interval's window
    std::int64_t half_width_ticks = 0;  ///< its assumed half-width
    std::int64_t before_ticks = 0;      ///< half of the widest interval
    std::int64_t after_ticks = 0;       ///< the same with that session
  };
  std::optional<HelpfulSession> helpful;
  std::vector<LocationBounds> locations;  ///< those with events, in their order
  std::vector<BoundsRow> rows;            ///< rows by location, then time; only if asked for
};

/// Result of check(): all edges of a trace, by one set of times.
struct CheckReport {
  std::string archive;          ///< path of the anchor file, or name of the files
  CheckWords words;             ///< those of its format
  std::uint64_t locations = 0;  ///< OTF2 locations, or clocks
  std::uint64_t events = 0;
  std::uint64_t communication_events = 0;
  std::uint64_t resolution_hz = 0;              ///< ticks per second
  PresyncMethod presync = PresyncMethod::none;  ///< origin of the times
  ClockEstimation estimation;
  /// Whose clock is wrong. Has no rows if a trace with violations is too large for an estimate at
  /// the cost of a check, or if times were not estimated (Presync::automatic or causal).
  ClockTable clocks;
  std::optional<ClockBounds> bounds;               ///< only if asked for
  std::array<EdgeStatistics, k_edge_kinds> edges;  ///< counts by EdgeKind
  /// Sums over all kinds; over EdgeKind::init_finalize only with CheckOptions::init_finalize.
  std::uint64_t violations = 0, below_latency = 0, equal = 0;
  std::optional<InsideDomains> inside_domains;  ///< only where locations share clocks
  MuTicks mu_ticks{};                           ///< mu that was used
  MuProvenance mu_source;                       ///< origin of `mu_ticks`
  Counters unmatched;                           ///< operations without a partner
  Counters skipped;  ///< operations that were ignored on purpose, and anomalies of the files
  Completeness completeness;
  Coverage coverage;
  std::vector<SetAside> set_aside;
  std::vector<std::string> guesses{};            ///< how files were read where nobody told
  std::uint64_t checked_edges = 0;               ///< sum over the same kinds as `violations`
  double min_coverage = 0;                       ///< CheckOptions::min_coverage
  std::vector<ClockExplanation> explanations{};  ///< why no clocks meet all edges; empty: some do
  Judgement judgement;
};

/// A pass of the gamma control loop.
struct AmortizationPass {
  double gamma = 0;
  std::uint64_t clocks = 0;      ///< clocks with this gamma, others have a larger one; 0: all
  std::int64_t error_ticks = 0;  ///< e: largest displacement of the pass
  std::uint64_t violations = 0;  ///< jumps made in the pass
  bool chosen = false;           ///< true: the correction took this pass
};

/// A clock that got a gamma of its own.
struct ClockGamma {
  std::uint64_t location = 0;  ///< OTF2 id of its first location
  std::string process;         ///< name of the location group
  double gamma = 0;
  std::int64_t error_ticks = 0;  ///< its largest displacement
};

/// Relative change of local intervals between consecutive communication events of a location.
struct IntervalChange {
  /// Bins: exactly 0; up to 0.01, 0.1, 1, 10, 100 %; above. Counted per interval.
  std::array<std::uint64_t, 7> histogram{};
  /// The same bins, weighted by the length of the interval before, in ticks.
  std::array<std::uint64_t, 7> histogram_ticks{};
  double max_share = 0;  ///< largest relative change, as a fraction
};

/// Differences between the measured and the corrected times.
struct CorrectionStatistics {
  std::uint64_t moved_events = 0;  ///< communication events (distinct stamps) that moved
  std::uint64_t compared_events = 0;
  double mean_ticks = 0;       ///< mean displacement of moved events
  std::int64_t p99_ticks = 0;  ///< 99th percentile of the displacement of moved events
  std::int64_t max_ticks = 0;  ///< largest displacement
  IntervalChange intervals;
  /// Largest local stretch: (change of a local interval) / (its length in local ticks).
  double max_slope = 0;
  /// Events more than a tick earlier than C. Only the bending of clocks may move events back.
  std::uint64_t moved_backward = 0;
  std::uint64_t order_broken = 0;  ///< local pairs whose order was reversed
};

/// Durations of the phases of a correction, seconds of wall-clock time. `verify` includes the check
/// of the times before, where that uses the pairs of the verification.
struct PhaseSeconds {
  double scan = 0, match = 0, presync = 0, forward = 0, backward = 0, write = 0, verify = 0;
  double bounds = 0;  ///< error bounds, only if asked for
};

/// Cost of a run of correct(). Only this part of its report differs between runs.
struct RunReport {
  PhaseSeconds phases;
  std::uint64_t peak_memory_bytes = 0;  ///< resident set, mapped files included
  std::uint64_t spilled_bytes = 0;      ///< largest size of the files used instead of memory
  /// Folders that killed runs had left near the output and that were removed.
  std::uint64_t leftovers_removed = 0;
};

/// The origin of the times C, from which a correction starts.
struct TimelineReport {
  PresyncMethod presync = PresyncMethod::none;
  std::string reason;  ///< why the method was chosen, or its outcome; may be empty
  ClockDomain clock_domain = ClockDomain::automatic;  ///< CheckOptions::clock_domain
  std::uint64_t clocks = 0;                           ///< clock domains
  std::vector<std::string> notes;  ///< evidence against shared clocks; ignored clock records
  /// Mean and largest |C - time as measured| of communication events (distinct stamps).
  double shift_mean_ticks = 0;
  std::int64_t shift_max_ticks = 0;
};

/// Result of correct().
struct CorrectReport {
  CheckReport before;  ///< edges counted by the clocks as measured
  TimelineReport timeline;
  CheckReport after;      ///< edges counted by the times as written or planned
  bool verified = false;  ///< false if CorrectOptions::verify is: then `after` is empty
  /// Judgement of the archive as written. It depends on the edges of `after`, on the local order of
  /// events, which a correction must keep, and on the edges that the correction had to drop. Empty
  /// if the archive was not verified.
  std::optional<Judgement> judgement;
  std::optional<WriteMode> mode;         ///< empty: the correction was planned, not written
  LinkCounts links{};                    ///< how an overlay links event files; zeros for a rewrite
  std::string output;                    ///< path of the corrected archive's anchor file
  ClockTable clocks;                     ///< the clocks of the original
  std::optional<ClockBounds> bounds;     ///< bounds of the corrected times, only if asked for
  std::vector<AmortizationPass> passes;  ///< passes of the control loop; empty: no amortization
  double gamma = 0;                      ///< smallest gamma of all clocks; 0: no amortization
  /// Smallest and largest delta of the processes, ticks; empty if it was not measured.
  std::optional<std::array<std::int64_t, 2>> measured_delta_ticks;
  /// The largest displacement that the choice of gammas accepts, ticks; empty if gamma was given,
  /// or if nothing had to be compared.
  std::optional<std::int64_t> epsilon_ticks;
  /// Only if clocks have different gammas: those with the smaller ones, in order of location. All
  /// others have that of the first pass.
  std::vector<ClockGamma> clock_gammas;
  double error_share = 0;  ///< largest displacement relative to the span of the trace
  Counters cycles;         ///< components of equal stamps, dropped edges
  CorrectionStatistics statistics;
  RunReport run;
};

}  // namespace entrain
