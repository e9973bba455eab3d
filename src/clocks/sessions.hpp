// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <entrain/options.hpp>

#include "trace/skeleton.hpp"

namespace entrain::clocks {

/// a - b, ticks; times are unsigned.
inline double difference(std::uint64_t a, std::uint64_t b) {
  return a >= b ? static_cast<double>(a - b) : -static_cast<double>(b - a);
}

/// An exchange: at local time `local` the master's clock showed `local + offset`. That is certain
/// to half of the round trip, however different the two ways are (Cristian 1989).
///
/// Example: local 1000, offset 500, round trip 40. The master's clock showed between 1480 and 1520
/// when the local clock showed 1000.
struct Sample {
  std::uint64_t local = 0;       ///< ticks
  std::int64_t offset = 0;       ///< ticks, at most 2^61 in size
  std::uint64_t round_trip = 0;  ///< local ticks
  bool kept = true;              ///< false: among the slowest of its session
};

/// A clock session of one location.
struct Session {
  /// The ClockOffset record. Its standard deviation is the half-width of an interval, ticks.
  trace::ClockOffset record;
  /// All exchanges in order of time, one of which is the record. Empty where only the record is
  /// known.
  std::vector<Sample> samples;
};

/// All sessions of one location's clock, in strictly increasing order of time.
struct Sessions {
  std::vector<Session> sessions;
  /// True if the clock is the global one: every record is 0 and exact.
  bool reference = false;
  /// True if a spline goes through all of them, disturbed or not.
  bool none_left_out = false;
};

/// A session condensed to one pair of times: global time is `local + offset` there.
struct SessionPoint {
  std::uint64_t local = 0;
  std::int64_t offset = 0;
  /// The offset is certain to within this, ticks; empty if unknown (OTF2 tracers write 0).
  std::optional<double> half_width;
};

/// Condenses every session to one point; a session without exchanges to its record.
///
/// `shortest` takes the middle of the offsets that all exchanges of a session allow. The shortest
/// way there and the shortest way back decide; they are seldom of one exchange. Since a session may
/// last long, distant exchanges are moved along the rate between the neighbouring sessions, and
/// their intervals grow by the uncertainty of that rate. If no offset is allowed by all exchanges,
/// the shortest round trip alone counts. The half-width is half of the allowed interval; for the
/// means, the mean of the half-widths of the exchanges. Pure; O(exchanges).
///
/// Example: the only session of a clock has the exchanges A {local 1000, offset 500, round trip 40}
/// and B {1100, 525, 40}. A allows offsets 480 to 520 at local time 1000. B, moved there with a
/// rate that is unknown to 550 ppm, allows 504.945 to 545.055. Both allow 504.945 to 520: the point
/// is local 1000, offset 512, and half-width 7.53 + 1 for the rounding.
[[nodiscard]] std::vector<SessionPoint> condense(const Sessions& clock, Condensing rule);

/// The points that the ClockOffset records give.
[[nodiscard]] std::vector<SessionPoint> record_points(const Sessions& clock);

}  // namespace entrain::clocks
