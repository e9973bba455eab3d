// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "base/team.hpp"
#include "clocks/error_estimate.hpp"
#include "clocks/samples.hpp"
#include "trace/properties.hpp"
#include "trace/share.hpp"

namespace entrain::clocks {

/// The pre-synchronisation of a trace: maps from stored stamps to common time (C).
struct Presynchronised {
  std::vector<ClockMap> maps;  ///< one per location; of other processes: the identity
  PresyncMethod method = PresyncMethod::none;
  std::string provenance;  ///< the method with its options, for an archive's properties
  /// The quality of the maps, and warnings; only if asked for, and at rank 0 only.
  ClockEstimation clocks;
  /// An estimate per location, only if asked for; unknown for those of other processes.
  std::vector<ErrorEstimate> errors;
};

/// Options of presynchronise(). A method alone asks for no report.
struct PresyncOptions : CheckOptions {
  /// The times that an OTF2 reader returns: `linear`, and a lone record counts for nothing.
  static PresyncOptions of_reader() {
    PresyncOptions options(Presync::linear);
    options.as_reader = true;
    return options;
  }

  PresyncOptions(Presync method) { presync = method; }
  PresyncOptions(const CheckOptions& options) : CheckOptions(options), report(true) {}

  bool report = false;  ///< fill Presynchronised::clocks and ::errors
  bool as_reader = false;
  /// The exchanges of the sessions, in place of the recorder's file; null: the file counts.
  const std::map<LocationIndex, LocationSamples>* exchanges = nullptr;
};

/// Builds the presync maps. If a time would be negative, all locations are moved by the same
/// amount.
///
/// A clock that was measured once gets a constant offset; how fast its error may grow is assumed
/// (RatePrior). The records of an archive that was corrected are its correction, not measurements:
/// `automatic` and `linear` take them as a reader does; regression and spline are refused. Sessions
/// are read from the recorder's file beside the archive if the file belongs to it
/// (read_clock_samples), else from the ClockOffset records. The maps do not depend on the number of
/// processes.
///
/// Errors: ErrorKind::input for clock offsets out of order or a map that decreases, and for local
/// stamps that decrease, naming the location; for a corrected archive, and one without records, if
/// regression or spline is asked for; for a damaged file of exchanges. Collective over the
/// processes.
Result<Presynchronised> presynchronise(const trace::Share& share, const PresyncOptions& options);
/// The same for a trace that this process holds as a whole.
Result<Presynchronised> presynchronise(const trace::Trace& trace, const PresyncOptions& options);

/// The map without the knots strictly inside buffer flushes, where a reader's segment must not
/// change. The same map if fewer than two knots would be left.
Result<ClockMap> straight_in_flushes(const ClockMap& map, const trace::LocationSkeleton& location);

/// Moves all maps by the same amount if the first event of some location would be before 0. `maps`:
/// one per location. Collective.
void avoid_negative_times(const trace::Share& share, std::span<ClockMap> maps);

using trace::SessionSpan;

/// The span that the archive's property gives (after a rewrite its records are those of the old
/// clocks). Without the property: from the latest first to the earliest last ClockOffset record
/// over all locations that have two or more, by `maps`. Nothing if there are no such locations.
std::optional<SessionSpan> session_span(const trace::Trace& trace, std::span<const ClockMap> maps);
/// The same over all processes of a run, each of which has the skeletons and maps of its own
/// locations only. Collective.
std::optional<SessionSpan> session_span(Team& processes, const trace::Trace& trace,
                                        std::span<const ClockMap> maps);

}  // namespace entrain::clocks
