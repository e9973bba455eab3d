// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/event_list.hpp"

namespace entrain::trace {

/// [begin, end]: nothing was recorded between these two stamps, local ticks.
struct Gap {
  std::uint64_t begin = 0;
  std::uint64_t end = k_open;

  /// `end` of a gap that lasts to the end of the trace.
  static constexpr std::uint64_t k_open = ~std::uint64_t{0};
};

/// [begin, end]: stamp and stop time of a BufferFlush, local ticks.
struct FlushInterval {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

/// A ClockOffset record of the local definitions.
struct ClockOffset {
  std::uint64_t time = 0;   ///< local ticks
  std::int64_t offset = 0;  ///< ticks to add
  double stddev = 0;        ///< stored value
};

/// True if their times increase from each record to the next, as every reader demands.
[[nodiscard]] inline bool in_order(std::span<const ClockOffset> offsets) {
  return std::adjacent_find(offsets.begin(), offsets.end(), [](const auto& a, const auto& b) {
           return b.time <= a.time;
         }) == offsets.end();
}

/// The communication events of a location and the few other things that a correction needs of its
/// files: the result of one scan.
///
/// Example: a process enters main at 1000, enters MPI_Send at 1200, sends at 1210, leaves it at
/// 1230 and leaves main at 2000. Its five records give one event {time 1210, kind send}, and
/// event_count 5, first 1000, last 2000, granule 10.
struct LocationSkeleton {
  EventList events;  ///< events in stream order; times do not decrease if `decreasing` is empty
  std::uint64_t event_count = 0;  ///< all records of the stream
  std::uint64_t first = 0;        ///< stamp of the first record; only if event_count > 0
  std::uint64_t last = 0;         ///< stamp of the last record; only if event_count > 0
  std::uint64_t granule = 0;      ///< smallest distance of two different stamps; 0: unknown
  std::vector<FlushInterval> flushes;
  std::vector<Gap> gaps;  ///< pauses between MeasurementOnOff off and on; in order, never
                          ///< overlapping
  std::vector<ClockOffset> clock_offsets;  ///< stored records, in file order

  // Anomalies, counted and not fatal.
  std::uint64_t unknown_records = 0;       ///< record types this version does not know; skipped
  std::uint64_t undefined_references = 0;  ///< events that name an undefined communicator etc.
  bool event_file_missing = false;
  bool definition_file_missing = false;
  bool truncated = false;  ///< the event file ends early; the records before that were read
  /// Position in the stream of the first stamp below its predecessor; empty: none.
  std::string decreasing;
};

/// Number of communication events strictly inside a buffer flush. The times must not decrease.
inline std::size_t events_inside(const LocationSkeleton& location, const FlushInterval& flush) {
  if (flush.end <= flush.begin) return 0;
  return location.events.lower_bound(flush.end) - location.events.lower_bound(flush.begin + 1);
}

}  // namespace entrain::trace
