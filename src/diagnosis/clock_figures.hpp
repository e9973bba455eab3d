// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "trace/layout.hpp"
#include "trace/share.hpp"

namespace entrain::diagnosis {

/// A clock is right if it moves by no more than rounding does, ticks.
inline constexpr std::int64_t k_rounding = 2;

/// Figures of a location's clock that its owner sends.
struct Figures {
  LocationIndex location = k_none;
  std::int64_t begin = 0;            ///< corrected time of the first event
  std::int64_t least = 0, most = 0;  ///< range of the distance
  std::int64_t offset = 0;           ///< mean distance
  double slope = 0;
  bool is_bent = false;
  std::optional<std::int64_t> since;               ///< corrected time of the last step
  std::optional<std::int64_t> bound, worst_bound;  ///< see ClockRow; ticks
  bool is_measured = false;                        ///< the trace has sessions of this clock
};

/// The figures of all locations with events, in their order. `bounds`: with rows if there are few
/// enough, or null. Collective.
std::vector<Figures> all_figures(const trace::Share& share, std::span<const ClockMap> before,
                                 std::span<const ClockMap> after, const ClockBounds* bounds);

/// The figures that stand for each clock: of its location that moves most, and of those that move
/// as far, of one that shows a step. Clocks without events have none.
std::vector<std::optional<Figures>> by_clock(const std::vector<Figures>& all,
                                             const trace::Layout& layout);

/// True if the clock is never further than rounding from a distance.
bool stays_at(const Figures& figures, std::int64_t distance);

/// The distance at which a clock is right: 0 if any clock kept its times, else the median, which
/// is also by how much all times were moved so that none is negative.
std::int64_t common_distance(const std::vector<std::optional<Figures>>& clocks);

/// Largest distance from the common one, ticks.
std::int64_t size_of(const Figures& figures, std::int64_t common);

}  // namespace entrain::diagnosis
