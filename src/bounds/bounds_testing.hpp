// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "bounds/error_bounds.hpp"

namespace entrain::bounds::testing {

/// A clock whose error is known to be in an interval at all times, ticks.
inline ClockBound known_error(std::int64_t lower, std::int64_t upper) {
  return {difference::RateRange::within(0),
          {{.time = 0, .lower = lower * difference::k_tick, .upper = upper * difference::k_tick}}};
}

/// Events of one location, of which the truth is known; all lists have the same length.
struct KnownEvents {
  std::uint64_t location = 0;         ///< OTF2 id
  std::vector<std::uint64_t> stamps;  ///< stored stamps, increasing
  std::vector<std::uint64_t> truth;   ///< true times, ticks
};

/// How stated bounds compare with true errors.
struct Contained {
  std::uint64_t events = 0;   ///< compared events: those while the reference had events
  std::uint64_t bounded = 0;  ///< events with a bound
  std::uint64_t beyond = 0;   ///< events with an error larger than the bound
  double worst_excess = 0;    ///< largest excess of an error over its bound, ticks
  double worst_error = 0;     ///< largest error, ticks
  bool in_windows = true;     ///< false: an event lay in no window
};

/// Readings of the reference clock, as checked or corrected, at true times. Its stamps go straight
/// between its events, but its map need not.
class ReferenceTime {
 public:
  ReferenceTime(const KnownEvents& events, const ClockMap& map) : map_(map) {
    for (std::size_t e = 0; e < events.truth.size(); ++e) {
      if (!points_.empty() && events.truth[e] == points_.back().first) continue;
      points_.emplace_back(events.truth[e], events.stamps[e]);
    }
  }
  /// Empty outside of the reference's events.
  [[nodiscard]] std::optional<double> operator()(std::uint64_t truth) const {
    const auto next =
        std::lower_bound(points_.begin(), points_.end(), truth,
                         [](auto& point, std::uint64_t t) { return point.first < t; });
    if (next == points_.end() || (next == points_.begin() && next->first != truth)) return {};
    if (next->first == truth) return static_cast<double>(map_(next->second));
    const auto before = next - 1;
    const auto length = static_cast<double>(next->first - before->first);
    const auto share = static_cast<double>(truth - before->first) / length;
    const double ticks = share * static_cast<double>(next->second - before->second);
    const std::uint64_t stamp = before->second + static_cast<std::uint64_t>(ticks);
    const auto least = static_cast<double>(map_(stamp));
    return least + (ticks - std::floor(ticks)) * (static_cast<double>(map_(stamp + 1)) - least);
  }

 private:
  const ClockMap& map_;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> points_;
};

/// Holds the true error of every event against `bounds`, which have rows and are those of `maps`,
/// one per location. An error is measured against the reference clock, as bounds are.
inline Contained hold_against_truth(std::span<const KnownEvents> locations,
                                    std::span<const ClockMap> maps, const ClockBounds& bounds) {
  Contained result;
  const auto reference =
      std::find_if(locations.begin(), locations.end(),
                   [&](const KnownEvents& l) { return l.location == bounds.reference; });
  if (reference == locations.end()) return result;
  const auto map_of = [&](const KnownEvents& l) -> const ClockMap& {
    return maps[static_cast<std::size_t>(&l - locations.data())];
  };
  const ClockMap& reference_map = map_of(*reference);
  const ReferenceTime shown(*reference, reference_map);
  for (const KnownEvents& of : locations) {
    const ClockMap& map = map_of(of);
    std::vector<BoundsRow> rows;
    for (const BoundsRow& row : bounds.rows) {
      if (row.location == of.location) rows.push_back(row);
    }
    for (std::size_t e = 0, r = 0; e < of.stamps.size(); ++e) {
      const auto expected = shown(of.truth[e]);
      if (!expected) continue;
      if (rows.empty()) {
        result.in_windows = false;
        break;
      }
      // The row of the window: the one whose middle is the nearest.
      const auto away = [&](std::size_t row) {
        return std::abs(static_cast<double>(rows[row].local_ticks) -
                        static_cast<double>(of.stamps[e]));
      };
      while (r + 1 < rows.size() && away(r + 1) < away(r)) ++r;
      const double error = std::abs(static_cast<double>(map(of.stamps[e])) - *expected);
      ++result.events;
      result.worst_error = std::max(result.worst_error, error);
      if (!rows[r].bounded) continue;
      ++result.bounded;
      const double excess = error - static_cast<double>(rows[r].bound_ticks);
      if (excess > 0) ++result.beyond;
      result.worst_excess = std::max(result.worst_excess, excess);
    }
  }
  return result;
}

}  // namespace entrain::bounds::testing
