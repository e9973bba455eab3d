// SPDX-License-Identifier: BSD-3-Clause
#include "fit/latency_scale.hpp"

#include <algorithm>
#include <limits>
#include <vector>

#include "base/flat_map.hpp"

namespace entrain::fit {

namespace {

/// Key of two clocks and a window.
std::uint64_t key_of(std::uint64_t low, std::uint64_t high, std::uint64_t window) {
  return (low << 40) ^ (high << 16) ^ window;
}

constexpr double k_no_trip = std::numeric_limits<double>::infinity();

}  // namespace

double latency_scale(std::span<const ClockConstraint> constraints, std::int64_t begin,
                     std::int64_t width, const ClockErrors* errors) {
  /// The tightest constraint of each direction between two clocks in a window.
  struct Trip {
    double up = k_no_trip, down = k_no_trip;
  };
  FlatMap<std::uint64_t, std::uint32_t, IntegerHash> numbers;
  std::vector<Trip> trips;
  for (const ClockConstraint& constraint : constraints) {
    const auto [low, high] = std::minmax(constraint.from, constraint.to);
    double slack = static_cast<double>(constraint.slack);
    if (errors != nullptr) {
      slack += (*errors)(constraint.from, constraint.from_time) -
               (*errors)(constraint.to, constraint.to_time);
    }
    const auto window = static_cast<std::uint64_t>((constraint.to_time - begin) / width);
    const auto [number, is_new] =
        numbers.insert(key_of(low, high, window), static_cast<std::uint32_t>(trips.size()));
    if (is_new) trips.emplace_back();
    Trip& trip = trips[*number];
    double& way = constraint.from == low ? trip.up : trip.down;
    way = std::min(way, slack);
  }
  double shortest = k_no_trip;
  for (const Trip& trip : trips) {
    // Below 4 ticks the clocks bend within the window, and the sum means nothing.
    if (trip.up + trip.down >= 4) shortest = std::min(shortest, trip.up + trip.down);
  }
  return shortest == k_no_trip ? 1 : shortest / 4;
}

}  // namespace entrain::fit
