// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace entrain {

/// How a clock runs against the common time.
enum class ClockState : std::uint8_t {
  right,    ///< it may stay as it is: nothing contradicts it
  slow,     ///< it is behind the common time, along a straight line
  fast,     ///< it is ahead of it, along a straight line
  stepped,  ///< it was set while the trace was recorded
  bent,     ///< its distance from the common time changes, but not along a straight line
  untied,   ///< no edges connect it to most other clocks, so its error is unknown
};
/// Name used in JSON, e.g. "slow".
const char* name_of(ClockState state);

/// A clock, as a reader of the trace sees it, against the common time: the times as corrected.
///
/// Offset and drift are added to the clock to correct it. So both are positive for a clock that is
/// slow, as with chrony.
struct ClockRow {
  std::string name;     ///< process or host, e.g. "MPI Rank 3"; its machine if many share the clock
  std::string machine;  ///< "" if unknown
  ClockState state = ClockState::right;
  /// Mean over the trace of common time minus clock, ticks. If the clock was set: since then.
  std::int64_t offset_ticks = 0;
  /// Largest size of that distance, ticks. Of a clock that is right: how far a correction moves it
  /// all the same.
  std::int64_t most_ticks = 0;
  std::optional<double> drift_ppm;  ///< mean growth of the offset; empty: stepped or untied
  /// Largest error that the offset can have where the clock communicates: median and maximum over
  /// slices of the trace, ticks. Empty where nothing was proved.
  std::optional<std::int64_t> bound_ticks, worst_bound_ticks;
  std::optional<std::int64_t> since_ticks;  ///< common time at which it was last set
  std::uint64_t edges = 0;                  ///< messages and calls of collectives that concern it
  std::uint64_t violations = 0;             ///< violated ones; either clock may be wrong
  std::optional<std::int64_t> worst_ticks;  ///< smallest margin of these, ticks; negative: violated
  std::string worst_with;                   ///< the other clock of the smallest margin
  /// Only for a wrong clock that a host and its devices share: those of them that may be wrong
  /// alone, because no edge within the process decides. "": none, or not known.
  std::string maybe_only;
};

/// All clocks of a trace that have events: those furthest off first, then the others by name.
struct ClockTable {
  std::string archive;              ///< path of the trace
  std::uint64_t resolution_hz = 0;  ///< ticks per second
  /// A clock that kept its times. Empty: none did, and the common time is that of the clock with
  /// the median move.
  std::string reference;
  std::int64_t begin_ticks = 0;  ///< first common time
  std::vector<ClockRow> rows;    ///< empty: not known
};

}  // namespace entrain
