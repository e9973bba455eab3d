// SPDX-License-Identifier: BSD-3-Clause
#include "constraints/bent_map.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/try.hpp"
#include "clocks/presync.hpp"

namespace entrain::constraints {

namespace {

/// First stamp from `low` on whose time is at least `time`; `high` if there is none before.
std::uint64_t stamp_at(const ClockMap& map, std::int64_t time, std::uint64_t low,
                       std::uint64_t high) {
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (map(middle) < time) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

}  // namespace

Result<ClockMap> bent_map(const ClockMap& map, const trace::LocationSkeleton& stamps,
                          std::span<const std::int64_t> times,
                          const std::function<std::int64_t(std::int64_t)>& move) {
  const std::uint64_t first = stamps.first, last = std::max(stamps.last, first + 1);
  std::vector<std::uint64_t> locals{first, last};
  for (const ClockKnot& knot : map.knots()) {
    if (knot.local > first && knot.local < last) locals.push_back(knot.local);
  }
  std::uint64_t local = first;
  for (const std::int64_t time : times) {
    if (time <= map(first) || time >= map(last)) continue;
    local = stamp_at(map, time, local, last);
    if (local < last) locals.push_back(local);
  }
  std::sort(locals.begin(), locals.end());
  locals.erase(std::unique(locals.begin(), locals.end()), locals.end());
  std::vector<ClockKnot> knots;
  for (const std::uint64_t stamp : locals) {
    const std::int64_t time = map(stamp);
    knots.push_back({stamp, time - static_cast<std::int64_t>(stamp) + move(time)});
  }
  TRY_ASSIGN(const ClockMap bent, ClockMap::from_knots(std::move(knots)));
  TRY_ASSIGN(ClockMap straight, clocks::straight_in_flushes(bent, stamps));
  if (!straight.is_monotone()) return fail(ErrorKind::input, "time would run backward");
  return straight;
}

}  // namespace entrain::constraints
