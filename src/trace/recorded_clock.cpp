// SPDX-License-Identifier: BSD-3-Clause
#include "trace/recorded_clock.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace entrain::trace {

namespace {

/// Ticks per tick of error: 500 ppm.
constexpr std::uint64_t k_ticks_per_tick_off = 2000;
/// Parts of a second: a record may be off by one part in addition to its half-width, which many
/// tracers leave at 0.
constexpr std::uint64_t k_part_of_second = 10'000;

std::uint64_t distance(std::int64_t a, std::int64_t b) {
  return a < b ? static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a)
               : static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

}  // namespace

RecordedClock::RecordedClock(const LocationSkeleton& location, const Definitions& definitions)
    : at_records_(definitions.clock.resolution_hz / k_part_of_second) {
  if (location.clock_offsets.size() >= 2) {
    std::vector<ClockKnot> knots;
    knots.reserve(location.clock_offsets.size());
    for (const ClockOffset& record : location.clock_offsets) {
      knots.push_back({record.time, record.offset});
    }
    auto map = ClockMap::from_knots(std::move(knots));
    if (!map || !map->is_monotone()) return;
    map_ = *std::move(map);
    records_ = location.clock_offsets;
  }
  if (find_property(definitions, k_property_correction) == nullptr) return;
  records_ = {};
  const std::string* const span = find_property(definitions, k_property_session_span);
  if (span != nullptr) span_ = span_of_property(*span);
}

RecordedClock::Nearest RecordedClock::nearest_record(std::uint64_t stamp) const {
  const auto after = std::lower_bound(
      records_.begin(), records_.end(), stamp,
      [](const ClockOffset& record, std::uint64_t at) { return record.time < at; });
  if (after == records_.begin()) return {after->time - stamp, after->stddev};
  const auto before = after - 1;
  if (after == records_.end() || stamp - before->time < after->time - stamp) {
    return {stamp - before->time, before->stddev};
  }
  return {after->time - stamp, after->stddev};
}

std::uint32_t RecordedClock::doubt(std::uint64_t stamp) const {
  Nearest nearest;
  if (span_) {
    const std::int64_t time = map_(stamp);
    nearest.away = std::min(distance(time, span_->begin), distance(time, span_->end));
  } else if (!records_.empty()) {
    nearest = nearest_record(stamp);
  } else {
    return k_unknown;
  }
  const std::uint64_t so_far = nearest.away / k_ticks_per_tick_off + at_records_;
  const double half_width = nearest.half_width;
  if (so_far >= k_unknown || !(half_width >= 0 && half_width < k_unknown)) return k_unknown;
  const std::uint64_t all = so_far + static_cast<std::uint64_t>(std::ceil(half_width));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(all, k_unknown));
}

RecordedClocks::RecordedClocks(const Trace& trace, std::span<const LocationIndex> locations) {
  for (const LocationIndex location : locations) {
    clocks_.emplace(location, RecordedClock(trace.locations[location], trace.definitions));
  }
}

}  // namespace entrain::trace
