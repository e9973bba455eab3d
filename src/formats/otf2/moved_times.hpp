// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "clocks/presync.hpp"
#include "formats/otf2/retime.hpp"
#include "trace/share.hpp"

/// The parts of a corrected archive beside its events: markers, the session span, the properties.
namespace entrain::otf2 {

/// The times of a trace before and after a correction. Holds references, which must outlive it.
struct CorrectedTimes {
  trace::Share share;  ///< share of this process
  /// Per location: stored stamp -> time that a reader of the original sees.
  std::span<const ClockMap> measured;
  /// Per location: stored stamp -> corrected time.
  std::span<const ClockMap> corrected;
};

/// Corrected time of something that a reader of the original sees at `time`, on one location.
///
/// Example: `measured` adds 100 to every stamp, `corrected` adds 130. A marker that was seen at 500
/// belongs to the stamp 400 and moves to 530. Where no stamp has that time, it moves as far as the
/// first stamp of a later time does; times after k_last_time count as that. O(log time).
std::int64_t moved(const ClockMap& measured, const ClockMap& corrected, std::uint64_t time);

/// New times of all markers: each moves with its location, and a marker of the whole trace with the
/// first location. Collective; the same at every process.
std::vector<std::int64_t> move_markers(const CorrectedTimes& times,
                                       std::span<const MarkerTime> markers);

/// The session span in corrected times; that of an earlier correction moves like the locations, by
/// the latest begin and the earliest end among them. Collective; the same at every process.
std::optional<clocks::SessionSpan> corrected_session_span(const CorrectedTimes& times);

}  // namespace entrain::otf2
