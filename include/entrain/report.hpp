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

namespace entrain {

/// Kinds of happened-before edges (docs/method.md, section 7).
enum class EdgeKind : std::uint8_t {
  p2p,
  one_to_n,
  n_to_one,
  n_to_n,
  scan,
  thread,
  rma,
  init_finalize,
};
inline constexpr std::size_t k_edge_kinds = 8;
/// Name used in JSON and tables, e.g. "one_to_n".
const char* name_of(EdgeKind kind);

/// Distance between two locations; each class has a minimum latency mu of its own.
enum class LatencyClass : std::uint8_t { same_process, same_node, other };
inline constexpr std::size_t k_latency_classes = 3;
const char* name_of(LatencyClass latency_class);

/// mu per class, in ticks, >= 0.
using MuTicks = std::array<std::int64_t, k_latency_classes>;

/// An end of an edge, for people.
struct EdgeEnd {
  std::uint64_t location = 0;     ///< OTF2 location id
  std::string process;            ///< name of the location group, e.g. "MPI Rank 3"
  std::string region;             ///< innermost region at the event; empty if unknown
  std::uint64_t local_ticks = 0;  ///< stored stamp
  std::int64_t ticks = 0;         ///< corrected time
};

/// The edge with the smallest LC(r) - LC(s) of its kind.
struct WorstEdge {
  std::int64_t margin_ticks = 0;  ///< LC(r) - LC(s); negative: violated
  EdgeEnd send;
  EdgeEnd receive;
};

struct EdgeStatistics {
  std::uint64_t count = 0;          ///< pairs (s, r); a collective counts all of its pairs
  std::uint64_t violations = 0;     ///< strict: LC(r) < LC(s)
  std::uint64_t below_latency = 0;  ///< LC(r) < LC(s) + mu, violations included
  std::optional<WorstEdge> worst;
  std::uint64_t equal = 0;  ///< LC(r) == LC(s): not violated, but cause and effect at once
};

/// Named counts in a fixed order, e.g. {"sends", 40}.
using Counters = std::vector<std::pair<std::string, std::uint64_t>>;

/// Value of the counter `name`; 0 if it is not there.
[[nodiscard]] inline std::uint64_t count_of(const Counters& counters, std::string_view name) {
  for (const auto& [key, value] : counters) {
    if (key == name) return value;
  }
  return 0;
}

/// How much of the recorded communication could be checked (docs/method.md, section 7). Counts
/// operations of single processes: a barrier of eight processes is eight calls.
///
/// Every receive is one of paired, ambiguous, lost, in_gaps; cancelled ones are no receives.
struct Coverage {
  std::uint64_t receives = 0;   ///< completed receives, but those from the same location
  std::uint64_t paired = 0;     ///< receives whose send was found
  std::uint64_t ambiguous = 0;  ///< receives to which more than one send could belong
  std::uint64_t lost = 0;       ///< receives whose send the trace does not have, as far as it shows
  std::uint64_t in_gaps = 0;    ///< receives whose send lies where its process was not recorded
  /// Calls of collectives on communicators of more than one process, also those of RMA windows.
  std::uint64_t collective_calls = 0;
  /// Calls whose instance is complete and says who waits for whom, even if nobody does: a gather to
  /// which no process contributes a byte, or the creation of a communicator. Of Alltoallv,
  /// Alltoallw and neighbourhood collectives those that name their partners.
  std::uint64_t in_instances = 0;
  /// Calls of Alltoallv and Alltoallw in complete instances, of which only totals are known.
  std::uint64_t alltoallv_skipped = 0;
  /// Calls of neighbourhood collectives that left only Enter and Leave.
  std::uint64_t neighbourhood_skipped = 0;

  /// (paired + in_instances) / (receives + collective_calls), 0 to 1; empty if there are none.
  [[nodiscard]] std::optional<double> share() const {
    const std::uint64_t all = receives + collective_calls;
    if (all == 0) return std::nullopt;
    return static_cast<double>(paired + in_instances) / static_cast<double>(all);
  }
};

/// Completeness of a trace as its archive properties state it. Score-P writes them.
struct Completeness {
  /// OTF2::MPI_COMMUNICATION_COMPLETE: false if the recording of MPI was switched off for a while.
  /// Empty: the archive does not say.
  std::optional<bool> mpi_communication;
  /// Names of all properties that deny a completeness, e.g. "OTF2::THREAD_LOCK_EVENT_COMPLETE".
  std::vector<std::string> incomplete;
  /// Properties whose name speaks of a filter, with their values.
  std::vector<std::pair<std::string, std::string>> filters;
};

/// The result of a check in one word.
enum class Verdict : std::uint8_t {
  violations,  ///< a receive is earlier than its send
  clean,       ///< enough was checked and nothing is violated, or there is nothing to violate
  unproven,    ///< nothing is violated, but too little was checked to say more
};
const char* name_of(Verdict verdict);

/// The reason of a verdict `unproven`; the first one that holds.
enum class Doubt : std::uint8_t {
  none,                 ///< the verdict is another one
  contradictory_edges,  ///< edges form cycles that no clocks can meet: some pairs are wrong
  no_edges,             ///< the trace has communication, or unread files, but no edge to check
  low_coverage,         ///< Coverage::share() is below CheckOptions::min_coverage
  unsettled_pairs,      ///< of a correction: its times show other pairs than those it is made of
};
const char* name_of(Doubt doubt);

struct Judgement {
  Verdict verdict = Verdict::unproven;
  Doubt doubt = Doubt::no_edges;
};

/// Quality of the presync of a location's clock. Bounds are empty where nothing is known: no
/// half-width was recorded, or the sessions are too few to show how much the clock wanders.
struct ClockQuality {
  std::uint64_t location = 0;  ///< OTF2 location id
  std::uint64_t sessions = 0;
  std::uint64_t samples = 0;  ///< exchanges of these sessions that were kept; 0: records only
  /// Inner sessions that the method left out as disturbed: far less certain than the others.
  std::uint64_t disturbed = 0;
  double slope_ppm = 0;  ///< mean rate of global time against this clock, minus one
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
  std::string sessions;              ///< source of the sessions; empty with "none"
  std::vector<ClockQuality> clocks;  ///< of locations with sessions, in their order
  /// Reasons to doubt the clocks, one sentence each: off by more than a second, or running more
  /// than 1,000 ppm too fast or too slow.
  std::vector<std::string> warnings;
};

/// Edges between locations that share one clock. They are part of the counts of their kinds, too.
struct InsideDomains {
  std::uint64_t count = 0;
  std::uint64_t violations = 0;  ///< no correction of that clock can remove them
};

/// Largest possible distance of a location's times from the reference clock's, over all windows
/// (slices of time) in which it has events.
struct LocationBounds {
  std::uint64_t location = 0;         ///< OTF2 location id
  std::string process;                ///< name of the location group
  std::uint64_t windows = 0;          ///< in which it has events
  std::uint64_t unbounded = 0;        ///< those of them in which nothing ties it to the reference
  std::int64_t worst_ticks = 0;       ///< largest bound of the other windows
  std::int64_t worst_time_ticks = 0;  ///< time in the middle of that window, as checked
  std::int64_t median_ticks = 0;
  /// Largest distance of the time itself from the possible interval, in the middle of a window.
  std::int64_t outside_ticks = 0;
  std::int64_t outside_time_ticks = 0;
  /// As `worst_ticks`, if sessions without a half-width have the one that they probably have; empty
  /// without such sessions.
  std::optional<std::int64_t> assumed_ticks;
};

/// The proof for one location in one window, for a table or a plot.
struct BoundsRow {
  std::uint64_t location = 0;     ///< OTF2 location id
  std::uint64_t local_ticks = 0;  ///< stored stamp in the middle of the window
  std::int64_t time_ticks = 0;    ///< its time, as checked
  bool bounded = false;           ///< false: the following members mean nothing
  /// Its least and largest time possible, on the reference clock as checked.
  std::int64_t earliest_ticks = 0, latest_ticks = 0;
  std::int64_t bound_ticks = 0;  ///< largest error possible of any event of the window
  /// The same as LocationBounds::assumed_ticks assumes; empty without such sessions.
  std::optional<std::int64_t> assumed_ticks;
};

/// Proved error bounds: the largest distance of each clock's times from those of a reference clock,
/// if no clock's rate leaves its mean by more than a limit. An error that all clocks share is
/// invisible in any trace; the reference is right by definition.
struct ClockBounds {
  std::string reason;           ///< why there are none; then all else is empty
  std::uint64_t reference = 0;  ///< OTF2 location id
  std::string reference_process;
  double max_rate_ppm = 0;      ///< the limit
  std::string max_rate_source;  ///< "given" or "trace"
  double least_rate_ppm = 0;    ///< about the smallest limit that the trace does not contradict
  /// Clocks with one session, which says nothing of their rates.
  std::uint64_t measured_once = 0;
  std::string clock_kind;         ///< "timer" or "wall"
  std::string clock_kind_source;  ///< "given" or "stamps"
  /// The limit on the mean rates of all clocks, against the reference, that was assumed; empty if
  /// none was.
  std::optional<double> mean_rate_ppm;
  /// "kind", "given", "off", or "trace": that of the kind, or the one given, contradicts the trace.
  std::string mean_rate_source;
  /// With source "trace": about the smallest limit that the trace does not contradict.
  std::optional<double> least_mean_rate_ppm;
  std::string mu_source;       ///< as CheckReport::mu_source
  std::uint64_t sessions = 0;  ///< measurements with an interval that were used
  /// Measurements without one that count in LocationBounds::assumed_ticks, and the largest
  /// half-width that was assumed of a clock, ticks.
  std::uint64_t assumed_sessions = 0;
  std::int64_t assumed_half_width_ticks = 0;
  std::uint64_t windows = 0;  ///< number of slices of the run
  std::int64_t window_ticks = 0;
  /// Largest distance by which `correct` moved presync times to bring them inside, ticks; 0 in
  /// `check`.
  std::int64_t held_ticks = 0;
  /// A session of all clocks that would at least halve the widest interval.
  struct HelpfulSession {
    std::int64_t time_ticks = 0;        ///< in the middle of the widest interval's window
    std::int64_t half_width_ticks = 0;  ///< that it is supposed to have
    std::int64_t before_ticks = 0;      ///< half of the widest interval
    std::int64_t after_ticks = 0;       ///< the same with that session
  };
  std::optional<HelpfulSession> helpful;
  std::vector<LocationBounds> locations;  ///< those with events, in their order
  std::vector<BoundsRow> rows;            ///< only if asked for: by location, then time
};

struct CheckReport {
  std::string archive;
  std::uint64_t locations = 0;
  std::uint64_t events = 0;
  std::uint64_t communication_events = 0;
  std::uint64_t resolution_hz = 0;
  std::string presync;  ///< the method used: "none", "linear", "regression", "spline" or "causal"
  ClockEstimation clocks;
  std::optional<ClockBounds> bounds;  ///< only if asked for
  std::array<EdgeStatistics, k_edge_kinds> edges;
  std::uint64_t violations = 0;     ///< sum over kinds in force (init_finalize only when asked for)
  std::uint64_t below_latency = 0;  ///< likewise
  std::uint64_t equal = 0;          ///< likewise
  std::optional<InsideDomains> inside_domains;  ///< only where locations share clocks
  MuTicks mu_ticks{};
  std::string mu_source;  ///< "none", "archive", "given", "round trip (estimate)",
                          ///< "clock_delays.csv (estimate)"
  Counters unmatched;     ///< operations without a partner
  Counters skipped;       ///< operations left out on purpose, and anomalies of the files
  Completeness completeness;
  Coverage coverage;
  std::uint64_t checked_edges = 0;  ///< sum over kinds in force
  double min_coverage = 0;          ///< as CheckOptions::min_coverage
  Judgement judgement;
};

/// A pass of the gamma control loop.
struct AmortizationPass {
  double gamma = 0;
  std::uint64_t clocks = 0;      ///< that have this gamma, the others a larger one; 0: all have it
  std::int64_t error_ticks = 0;  ///< e: largest displacement of the pass
  std::uint64_t violations = 0;  ///< jumps made in the pass
  bool chosen = false;
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

/// From the times as measured to the corrected ones.
struct CorrectionStatistics {
  std::uint64_t moved_events = 0;  ///< communication events (distinct stamps) that moved
  std::uint64_t compared_events = 0;
  double mean_ticks = 0;       ///< over moved events
  std::int64_t p99_ticks = 0;  ///< over moved events
  std::int64_t max_ticks = 0;
  IntervalChange intervals;
  /// Largest local stretch: (change of a local interval) / (its length in local ticks).
  double max_slope = 0;
  /// Events more than a tick earlier than C. Only the bending of clocks may move events back.
  std::uint64_t moved_backward = 0;
  std::uint64_t order_broken = 0;  ///< local pairs whose order was reversed
};

/// How long the phases of a correction took, seconds of the clock on the wall. `verify` has the
/// check of the times before, too, where that takes the pairs of the verification.
struct PhaseSeconds {
  double scan = 0, match = 0, presync = 0, forward = 0, backward = 0, write = 0, verify = 0;
  double bounds = 0;  ///< error bounds, only if asked for
};

/// The origin of the times C, from which a correction starts.
struct TimelineReport {
  std::string presync;             ///< "none", "linear", "regression", "spline" or "causal"
  std::string reason;              ///< why it was chosen, or its outcome; may be empty
  std::string clock_domain;        ///< "location", "process", "node" or "auto"
  std::uint64_t clocks = 0;        ///< clock domains
  std::vector<std::string> notes;  ///< evidence against shared clocks; clock records left out
  /// C minus the time as measured, over communication events (distinct stamps).
  double shift_mean_ticks = 0;       ///< of the absolute values
  std::int64_t shift_max_ticks = 0;  ///< the largest one
};

struct CorrectReport {
  CheckReport before;  ///< by the clocks as measured, as check reports it
  TimelineReport timeline;
  CheckReport after;      ///< of the archive as written or planned; equals `before` in shape
  bool verified = false;  ///< false with verify = off: `after` is empty then
  /// Of the archive as written. Beside the edges of `after` it depends on the local order of
  /// events, which a correction must keep, and on the edges that the correction had to drop.
  /// Empty if the archive was not verified.
  std::optional<Judgement> judgement;
  std::string mode;  ///< "rewrite", "overlay", or "planned": nothing was written
  /// How overlay linked event files, "hard link", with counts if in several ways: "reflink (7),
  /// symbolic link (1)"; empty for rewrite.
  std::string link;
  std::string output;                 ///< path of the corrected archive's anchor file
  std::optional<ClockBounds> bounds;  ///< of the corrected times, only if asked for
  std::vector<AmortizationPass> passes;
  double gamma = 0;  ///< the smallest one of all clocks; 0 without amortization
  /// Smallest and largest delta of the processes, ticks; empty if it was not measured.
  std::optional<std::array<std::int64_t, 2>> measured_delta_ticks;
  /// The largest displacement that no clock should exceed, by which gammas were chosen, ticks;
  /// empty if gamma was given, or if nothing had to be compared.
  std::optional<std::int64_t> epsilon_ticks;
  /// Only if clocks have different gammas: those with the smaller ones, in order of location. All
  /// others have that of the first pass.
  std::vector<ClockGamma> clock_gammas;
  double error_share = 0;  ///< e relative to the span of the trace
  Counters cycles;         ///< components of equal stamps, dropped edges
  CorrectionStatistics statistics;
  PhaseSeconds phases;
  std::uint64_t peak_memory_bytes = 0;  ///< resident set, mapped files included
  std::uint64_t spilled_bytes = 0;      ///< largest size of the files used instead of memory
  /// Folders that killed runs had left beside the output and that were removed.
  std::uint64_t leftovers_removed = 0;
};

}  // namespace entrain
