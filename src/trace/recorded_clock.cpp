// SPDX-License-Identifier: BSD-3-Clause
#include "trace/recorded_clock.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace entrain::trace {

namespace {

/// Ticks per tick of error: 500 ppm.
constexpr std::uint64_t k_ticks_per_tick_off = 2000;
/// Of a second: what a record may be off, beside its half-width, which many tracers leave at 0.
constexpr std::uint64_t k_part_of_second = 10'000;

}  // namespace

RecordedClock::RecordedClock(const LocationSkeleton& location, std::uint64_t ticks_per_second)
    : at_records_(ticks_per_second / k_part_of_second) {
  if (location.clock_offsets.size() < 2) return;
  std::vector<ClockKnot> knots;
  knots.reserve(location.clock_offsets.size());
  for (const ClockOffset& record : location.clock_offsets) {
    knots.push_back({record.time, record.offset});
  }
  auto map = ClockMap::from_knots(std::move(knots));
  if (!map || !map->is_monotone()) return;
  map_ = *std::move(map);
  location_ = &location;
}

std::uint32_t RecordedClock::doubt(std::uint64_t stamp) const {
  if (location_ == nullptr) return k_unknown;
  const auto& records = location_->clock_offsets;
  const auto after = std::lower_bound(
      records.begin(), records.end(), stamp,
      [](const ClockOffset& record, std::uint64_t at) { return record.time < at; });
  auto nearest = after == records.end() ? after - 1 : after;
  if (after != records.begin() && after != records.end() &&
      stamp - (after - 1)->time < after->time - stamp) {
    nearest = after - 1;
  }
  const std::uint64_t away = nearest->time < stamp ? stamp - nearest->time : nearest->time - stamp;
  const std::uint64_t so_far = away / k_ticks_per_tick_off + at_records_;
  const double half_width = nearest->stddev;
  if (so_far >= k_unknown || !(half_width >= 0 && half_width < k_unknown)) return k_unknown;
  const std::uint64_t all = so_far + static_cast<std::uint64_t>(std::ceil(half_width));
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(all, k_unknown));
}

RecordedClocks::RecordedClocks(const Trace& trace, std::span<const LocationIndex> locations) {
  for (const LocationIndex location : locations) {
    clocks_.emplace(
        location, RecordedClock(trace.locations[location], trace.definitions.clock.resolution_hz));
  }
}

}  // namespace entrain::trace
