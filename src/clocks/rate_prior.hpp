// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include <entrain/options.hpp>

#include "trace/share.hpp"

namespace entrain::clocks {

/// The largest limit on mean rates that is considered, parts per billion: a tenth.
inline constexpr std::int64_t k_any_mean_ppb = 100'000'000;

/// How far the mean rates of two clocks may differ, before any measurement says more.
struct RatePrior {
  ClockKind kind = ClockKind::timer;  ///< never automatic
  bool kind_given = false;            ///< true: the user gave the kind; false: the stamps tell it
  /// Largest difference of the mean rates, parts per billion. Timers: 200 ppm, twice what data
  /// sheets of crystals allow. Wall clocks: 500 ppm, by which an operating system slews.
  std::int64_t mean_ppb = 200'000;
  bool mean_given = false;  ///< true: the user gave it; false: it follows from the kind
  /// How far the mean rates of two clocks typically differ, parts per billion, where nothing else
  /// tells which rate of many is right; most are closer, some much farther. Timers: 30 ppm, as
  /// between servers. Wall clocks: 1 ppm, since they are disciplined; they are seldom slewed.
  std::int64_t typical_ppb = 30'000;
  bool limited = true;  ///< false: nothing is assumed; then `mean_ppb` is k_any_mean_ppb

  /// Returns the mean in ticks per tick.
  [[nodiscard]] double mean() const { return static_cast<double>(mean_ppb) * 1e-9; }
};

/// Returns the limits that `option` gives; else the earliest event of the trace tells the kind of
/// clocks: a stamp between the years 2000 and 2100, counted from 1970, is that of a wall clock,
/// since no machine runs for 30 years. Collective; the same at every process.
[[nodiscard]] RatePrior rate_prior(const trace::Share& share, const ClockPriorOption& option = {});

}  // namespace entrain::clocks
