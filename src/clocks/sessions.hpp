// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <entrain/options.hpp>

#include "trace/skeleton.hpp"

namespace entrain::clocks {

/// One exchange: at local time `local` the master's clock showed `local + offset`, certain to
/// half of the round trip whatever the asymmetry of the ways (Cristian 1989).
struct Sample {
  std::uint64_t local = 0;       ///< ticks
  std::int64_t offset = 0;       ///< ticks, at most 2^61 in size
  std::uint64_t round_trip = 0;  ///< local ticks
  bool kept = true;              ///< false: among the slowest of its session
};

/// What is known of one clock session of one location.
struct Session {
  /// The ClockOffset record. Its standard deviation is the half-width of an interval, ticks.
  trace::ClockOffset record;
  /// All exchanges in order of time; empty where only the record is left. One of them is the
  /// record.
  std::vector<Sample> samples;
};

/// All sessions of one location's clock, in strictly increasing order of time.
struct Sessions {
  std::vector<Session> sessions;
  /// The clock is the global one: every record is 0 and exact.
  bool reference = false;
};

/// A session condensed to one pair of times: global time is `local + offset` there.
struct SessionPoint {
  std::uint64_t local = 0;
  std::int64_t offset = 0;
  /// The offset is certain to within this, ticks; empty if unknown (OTF2 tracers write 0).
  std::optional<double> half_width;
};

/// Condenses every session; records where a session has no exchanges.
///
/// `shortest` takes the middle of the times that all exchanges of a session allow: the shortest
/// ways there and the shortest ways back, seldom those of one exchange. A session may last long, so
/// distant exchanges are moved along the rate between the neighbouring sessions, and their
/// intervals grow by what that rate may be wrong. Where no time is allowed by all, the shortest
/// round trip alone counts. The half-width is half of what is allowed; for the means, the mean of
/// those of the exchanges. Pure; O(exchanges).
[[nodiscard]] std::vector<SessionPoint> condense(const Sessions& clock, Condensing rule);

/// The sessions as their ClockOffset records say.
[[nodiscard]] std::vector<SessionPoint> record_points(const Sessions& clock);

}  // namespace entrain::clocks
