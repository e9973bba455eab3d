// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "base/ids.hpp"
#include "trace/properties.hpp"
#include "trace/trace.hpp"

namespace entrain::trace {

/// Ticks per tick by which two clocks may drift apart: 500 ppm.
inline constexpr std::uint64_t k_ticks_per_tick_off = 2000;

/// The clock of a location by its ClockOffset records: the times that an OTF2 reader returns, and
/// how far they may be off. The records of a corrected archive are no measurements: they hold the
/// correction, or nothing. So the span of the measurements counts, which its properties tell, and
/// archives that were corrected by an overlay and by rewriting are alike.
///
/// Example: records at 0 s and 10 s, with half-widths of 2 us. At 1 s the time may be off by 0.5 ms
/// (1 s at 500 ppm), 2 us, and 0.1 ms for what records do not know.
class RecordedClock {
 public:
  /// Returned by doubt() where nothing is known: fewer than two records, or 4 s or more (at 1 GHz).
  static constexpr std::uint32_t k_unknown = std::numeric_limits<std::uint32_t>::max();

  /// Shows stamps as they are, and knows nothing of them.
  RecordedClock() = default;
  /// Records of which no clock map can be made that never goes back count for nothing.
  RecordedClock(const LocationSkeleton& location, const Definitions& definitions);

  /// Global time of a stamp, ticks modulo 2^64. O(log records).
  [[nodiscard]] std::uint64_t time(std::uint64_t stamp) const {
    return static_cast<std::uint64_t>(map_(stamp));
  }
  /// Largest error of time(stamp) to be expected, ticks: of a clock whose rate differs from the
  /// line between its measurements by at most 500 ppm. O(log records).
  [[nodiscard]] std::uint32_t doubt(std::uint64_t stamp) const;

 private:
  /// A measurement: a record, or an end of the span.
  struct Measurement {
    std::uint64_t time = 0;        ///< stamp
    std::uint32_t half_width = 0;  ///< ticks, rounded up; k_unknown: no number, or too large
  };

  ClockMap map_;
  std::vector<Measurement> records_;  ///< records that are measurements; else empty
  std::optional<SessionSpan> span_;   ///< span of measurements that are not in `records_`, if known
  std::uint64_t at_records_ = 0;
};

/// Clocks of some locations, such as those of a process.
class RecordedClocks {
 public:
  RecordedClocks(const Trace& trace, std::span<const LocationIndex> locations) {
    for (const LocationIndex location : locations) {
      clocks_.emplace(location, RecordedClock(trace.locations[location], trace.definitions));
    }
  }

  /// Returns the clock of any of these locations.
  [[nodiscard]] const RecordedClock& operator[](LocationIndex location) const {
    return clocks_.at(location);
  }

 private:
  std::map<LocationIndex, RecordedClock> clocks_;
};

}  // namespace entrain::trace
