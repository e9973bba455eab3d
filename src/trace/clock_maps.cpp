// SPDX-License-Identifier: BSD-3-Clause
#include "trace/clock_maps.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/exact.hpp"
#include "base/order.hpp"

namespace entrain::trace {

namespace {

/// Knots this close could make a slope of their rounding alone.
constexpr std::uint64_t k_min_distance = 16;

/// Ticks by which the first and the last segment reach beyond the outermost knot that matters.
constexpr std::uint64_t k_margin = std::uint64_t{1} << 20;

/// The smallest stamp from `low` on that `map` takes to `value` or above: by doubling steps, then
/// by halving them. 2^62 if there is none before.
std::uint64_t preimage(const ClockMap& map, std::uint64_t value, std::uint64_t low) {
  constexpr std::uint64_t k_end = std::uint64_t{1} << 62;
  const auto reached = [&](std::uint64_t t) { return map(t) >= static_cast<std::int64_t>(value); };
  std::uint64_t high = low;
  for (std::uint64_t step = k_margin; high < k_end && !reached(high); step *= 2) {
    low = high + 1;
    high = std::min(high + step, k_end);
  }
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (reached(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// The stamps at which the composition bends: the knots of `inner`, and the stamps that it takes to
/// the knots of `outer` unless one of its own is next to them.
std::vector<std::uint64_t> bends(const ClockMap& inner, const ClockMap& outer) {
  std::vector<std::uint64_t> own;
  if (inner.knots().size() >= 2) {
    for (const ClockKnot& knot : inner.knots()) own.push_back(knot.local);
  }
  std::uint64_t low = 0;
  std::vector<std::uint64_t> result = own;
  for (const ClockKnot& knot : outer.knots()) {
    const std::uint64_t t = own.empty() ? knot.local : preimage(inner, knot.local, low);
    low = t;
    const auto next = std::lower_bound(own.begin(), own.end(), t);
    const bool close = (next != own.end() && *next - t < k_min_distance) ||
                       (next != own.begin() && t - *std::prev(next) < k_min_distance);
    if (!close) result.push_back(t);
  }
  sort_unique(result);
  return result;
}

}  // namespace

Result<ClockMap> composed(const ClockMap& inner, const ClockMap& outer) {
  if (outer.knots().size() < 2) return inner;
  std::vector<std::uint64_t> times = bends(inner, outer);
  // The ends: wide segments, so that the extension follows a rate and not a rounding.
  times.push_back(times.back() + k_margin);
  if (times.front() > 0) {
    times.insert(times.begin(), times.front() > k_margin ? times.front() - k_margin : 0);
  }
  std::vector<ClockKnot> knots;
  knots.reserve(times.size());
  ClockMap::Cursor through_inner(inner), through_outer(outer);
  for (const std::uint64_t t : times) {
    const std::int64_t through = through_inner(t);
    const std::int64_t shown = through_outer(through < 0 ? 0 : static_cast<std::uint64_t>(through));
    // Damaged records lie anywhere; from_knots() refuses what is out of range.
    const Int128 offset = Int128{shown} - Int128{t};
    constexpr Int128 k_most = std::numeric_limits<std::int64_t>::max();
    knots.push_back({t, static_cast<std::int64_t>(std::clamp(offset, -k_most, k_most))});
  }
  return ClockMap::from_knots(std::move(knots));
}

ClockMap seen_from(const ClockMap& reference, const ClockMap& map) {
  if (reference.is_identity()) return map;
  std::vector<std::uint64_t> stamps;
  for (const ClockKnot& knot : map.knots()) stamps.push_back(knot.local);
  for (const ClockKnot& knot : reference.knots()) {
    const std::int64_t time = static_cast<std::int64_t>(knot.local) + knot.offset;
    const std::int64_t offset = map(knot.local) - static_cast<std::int64_t>(knot.local);
    if (time > offset) stamps.push_back(static_cast<std::uint64_t>(time - offset));
  }
  sort_unique(stamps);
  std::vector<ClockKnot> knots;
  for (const std::uint64_t stamp : stamps) {
    const std::int64_t time = map(stamp);
    const auto there = static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0));
    const std::int64_t ahead = reference(there) - static_cast<std::int64_t>(there);
    knots.push_back({stamp, time - ahead - static_cast<std::int64_t>(stamp)});
  }
  return ClockMap::from_knots(std::move(knots)).value_or(map);
}

std::vector<std::uint64_t> straight_stamps(std::uint64_t first, std::uint64_t last,
                                           std::initializer_list<const ClockMap*> maps) {
  std::vector<std::uint64_t> stamps{first, last};
  for (const ClockMap* const map : maps) {
    for (const ClockKnot& knot : map->knots()) {
      if (knot.local > first && knot.local < last) stamps.push_back(knot.local);
    }
  }
  sort_unique(stamps);
  return stamps;
}

}  // namespace entrain::trace
