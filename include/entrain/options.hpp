// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace entrain {

/// How stored stamps become the times C that the correction starts from
/// (docs/method.md, section 3).
enum class Presync {
  /// Of linear, regression and spline the one that best foretells sessions that are left out;
  /// linear where a trace has fewer than three sessions, and where it was corrected already; none
  /// where it has no ClockOffset record. A correction goes on as with `causal` where something is
  /// violated, unless the archive was corrected already or has more than 1,024 clocks.
  automatic,
  none,        ///< stamps as stored
  linear,      ///< through the ClockOffset records, to the bit as an OTF2 reader does
  regression,  ///< one straight line per clock, by least squares over all sessions
  spline,      ///< a smooth, increasing curve through all sessions
  /// What `automatic` chooses, bent as little as the trace's messages and collectives demand; where
  /// no clock was measured, aligned by these alone.
  causal,
};

/// How the exchanges of one clock session become one offset, where the trace still has them (the
/// recorder's clock_samples.csv). Without them the ClockOffset records are the sessions.
enum class Condensing {
  shortest,  ///< what all exchanges allow, of which the shortest round trips allow least
  mean,      ///< mean of the exchanges that were kept (the slowest tenth is not)
  weighted,  ///< the same, weighted by 1 / (round trip)^2
};

/// What is done with Alltoallv and Alltoallw, of which a trace records only totals.
enum class AlltoallvRule {
  ignore,  ///< no edge; counted and reported
  dense,   ///< every contributing begin before every receiving end, as the papers do
};

/// Which locations share one physical clock: they get one correction function.
enum class ClockDomain {
  /// The locations of a machine node, as far as nothing in the trace contradicts it: clock offsets
  /// that differ, or a message inside the node that would arrive before it was sent. A node that is
  /// contradicted falls into its processes, such a process into its locations. What was not
  /// measured and does not communicate contradicts nothing.
  automatic,
  location,  ///< every location has a clock of its own
  process,   ///< the locations of a process share one
  node,      ///< the locations of a machine node share one
};

/// Where the minimum delay mu of an edge comes from.
enum class MuSource {
  automatic,  ///< mu of an earlier correction of the archive, else 0
  /// A quarter of the shortest round trip of the recorder's clock sessions (clock_delays.csv beside
  /// the archive): a guess, as no measurement tells how a round trip is shared out.
  delays,
  round_trip,  ///< a quarter of the smallest round trip of opposite messages: a guess
  one_tick,    ///< one tick for every class: separates ties
  fixed,       ///< `MuOption::seconds` for every class
};

struct MuOption {
  MuSource source = MuSource::automatic;
  double seconds = 0;  ///< only for MuSource::fixed; >= 0
};

/// Guaranteed error bounds of the clocks: what messages, collectives and clock sessions prove.
struct BoundsOption {
  bool wanted = false;  ///< costs about as much as the matching of the trace
  /// How much faster or slower than its mean rate a clock may run at any moment, seen from the
  /// reference clock; parts per million, 0 to 100,000. Empty: taken from the trace.
  std::optional<double> max_rate_ppm;
  bool rows = false;  ///< ClockBounds::rows too
};

/// What the checker looks at. Shared by check and correct, so that both mean the same edges.
struct CheckOptions {
  Presync presync = Presync::automatic;
  Condensing condensing = Condensing::shortest;  ///< for regression and spline
  /// Matters where clocks are bent or corrected; a check counts the edges inside domains apart, but
  /// for automatic.
  ClockDomain clock_domain = ClockDomain::automatic;
  MuOption mu;
  AlltoallvRule alltoallv = AlltoallvRule::ignore;
  bool init_finalize = false;  ///< treat MPI_Init and MPI_Finalize as synchronising
  BoundsOption bounds;
  unsigned threads = 0;  ///< worker threads; 0: all cores. The result does not depend on it.
  /// Anonymous memory that the large arrays of a run may take, bytes; what is beyond lies in mapped
  /// files without a name under $TMPDIR (else /var/tmp). 0: no limit. It holds for the whole
  /// process: of several runs at the same time the last one to begin decides.
  std::uint64_t memory_limit_bytes = 0;
};

/// How a corrected archive is stored.
enum class WriteMode {
  rewrite,  ///< self-contained: every stamp rewritten in place, no effective ClockOffset
  overlay,  ///< the clock maps as ClockOffset records, event files linked to the original ones
};

/// How overlay refers to the original event files.
enum class LinkKind {
  automatic,  ///< reflink, else relative symbolic link, else hard link
  reflink,    ///< copy on write; the original may be deleted
  symbolic,   ///< relative symbolic link; the original must stay where it is
  hard,       ///< hard link; the original may be deleted but must not be written to
};

/// A gamma or slope as an exact decimal fraction: `billionths` / 10^9.
struct Decimal9 {
  std::int64_t billionths = 0;
};

struct CorrectOptions {
  CheckOptions check;
  /// Control variable of forward amortization, in (0, 1]; empty: the control loop chooses.
  std::optional<Decimal9> gamma;
  /// Smallest distance in ticks of consecutive communication events that were at least as far
  /// apart before (docs/method.md, section 4). >= 0.
  std::int64_t delta_ticks = 0;
  /// Slope of the ramps of backward amortization, local ticks per tick, > 0.
  Decimal9 max_slope{10'000'000};
  bool backward = true;
  /// Without it what is written is the presync alone; violations that it leaves stay.
  bool amortize = true;
  WriteMode mode = WriteMode::rewrite;
  LinkKind link = LinkKind::automatic;
  bool force = false;  ///< replace an existing output folder
  bool verify = true;  ///< read the written archive back and check it
};

}  // namespace entrain
