// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "trace/share.hpp"

namespace entrain::clocks {

/// What the clocks of a trace are.
enum class ClockKind : std::uint8_t {
  timer,  ///< counts freely from anywhere, such as TSC and CLOCK_MONOTONIC_RAW
  wall,   ///< tells the time of day and is slewed, such as CLOCK_REALTIME and gettimeofday
};

/// How far the mean rates of two clocks may differ, before any measurement says more.
struct RatePrior {
  ClockKind kind = ClockKind::timer;
  /// Largest difference of the mean rates, parts per billion. Timers: 200 ppm, twice what data
  /// sheets of crystals allow. Wall clocks: 500 ppm, by which an operating system slews.
  std::int64_t mean_ppb = 200'000;

  /// As ticks per tick.
  [[nodiscard]] double mean() const { return static_cast<double>(mean_ppb) * 1e-9; }
};

/// Tells the kind of clocks by the earliest event of the trace: a stamp between the years 2000 and
/// 2100, counted from 1970, is that of a wall clock, since no machine runs for 30 years.
/// Collective; the same at every process.
[[nodiscard]] RatePrior rate_prior(const trace::Share& share);

}  // namespace entrain::clocks
