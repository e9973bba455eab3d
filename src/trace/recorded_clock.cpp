// SPDX-License-Identifier: BSD-3-Clause
#include "trace/recorded_clock.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string>
#include <utility>

namespace entrain::trace {

namespace {

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
    for (const ClockOffset& record : location.clock_offsets) {
      const double width = record.stddev;
      const bool is_known = width >= 0 && width < k_unknown;
      records_.push_back(
          {record.time, is_known ? static_cast<std::uint32_t>(std::ceil(width)) : k_unknown});
    }
  }
  if (find_property(definitions, k_property_correction) == nullptr) return;
  records_ = {};
  const std::string* const span = find_property(definitions, k_property_session_span);
  if (span != nullptr) span_ = span_of_property(*span);
}

std::uint32_t RecordedClock::doubt(std::uint64_t stamp) const {
  std::uint64_t away = 0, half_width = 0;
  if (span_) {
    const std::int64_t time = map_(stamp);
    away = std::min(distance(time, span_->begin), distance(time, span_->end));
  } else if (!records_.empty()) {
    auto nearest = std::ranges::lower_bound(records_, stamp, {}, &Measurement::time);
    if (nearest != records_.begin()) {
      const std::uint64_t since = stamp - std::prev(nearest)->time;
      if (nearest == records_.end() || since < nearest->time - stamp) --nearest;
    }
    away = stamp < nearest->time ? nearest->time - stamp : stamp - nearest->time;
    half_width = nearest->half_width;
  } else {
    return k_unknown;
  }
  const std::uint64_t all = away / k_ticks_per_tick_off + at_records_ + half_width;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(all, k_unknown));
}

}  // namespace entrain::trace
