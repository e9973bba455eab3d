// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <entrain/clock_map.hpp>

namespace entrain::constraints {

/// A straight line from the stamps of a clock to common time. The error of the clock is measured
/// against it.
///
///     line(x) = value + (x - anchor) + rint(rate * (x - anchor))
///
/// Straight to within a tick, increasing for rates above -1. Times are limited to -2^61 and 2^62.
///
/// Example: anchor 1000, value 5000, rate 0.01. line(1000) = 5000 and line(1200) = 5202.
struct BaseLine {
  std::uint64_t anchor = 0;  ///< stamp
  std::int64_t value = 0;    ///< common time at `anchor`, ticks
  double rate = 0;           ///< rate of common time against the clock, minus one

  [[nodiscard]] std::int64_t operator()(std::uint64_t local) const;
  /// Inverse to within two ticks, clamped to [0, 2^63).
  [[nodiscard]] std::uint64_t local_at(std::int64_t time) const;

  friend bool operator==(const BaseLine&, const BaseLine&) = default;
};

/// The line through a map at two stamps, `first` <= `last`; of rate 0 if the two are one.
[[nodiscard]] BaseLine chord(const ClockMap& map, std::uint64_t first, std::uint64_t last);

/// Largest rate of a map against `line` between the stamps `first` and `last`, beyond what the
/// rounding to ticks explains. Relative, >= 0.
[[nodiscard]] double largest_rate(const ClockMap& map, const BaseLine& line, std::uint64_t first,
                                  std::uint64_t last);

}  // namespace entrain::constraints
