// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include <entrain/clock_map.hpp>

#include "causal/prove.hpp"

namespace entrain::causal {

/// Values between a least and a largest one, ticks.
struct TickRange {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  void take(std::int64_t value) {
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
};

/// Where proven intervals let the times of events lie, as the map of the reference tells time.
class PossibleTimes {
 public:
  /// Both must outlive this; `reference` as shared_map() gives it.
  PossibleTimes(const ProvenIntervals& proven, const ClockMap& reference)
      : proven_(proven),
        line_(proven.lines[proven.clock_of[proven.reference]]),
        reference_(reference) {}

  /// Of the error of the line of a location's clock anywhere in a window. Of the reference itself:
  /// 0.
  [[nodiscard]] ErrorIntervals::Interval errors(LocationIndex l, std::uint32_t window) const;
  /// Of the time of an event of stamp `local` of location `l`, if `errors` are those of its window
  /// and bounded.
  [[nodiscard]] TickRange at(LocationIndex l, std::uint64_t local,
                             const ErrorIntervals::Interval& errors) const;
  /// Where a location shows the window: the stamp in its middle, or that of the nearest event if
  /// the location, which has events from `first` to `last`, has begun later or ended before.
  [[nodiscard]] std::uint64_t middle(LocationIndex l, std::uint32_t window, std::uint64_t first,
                                     std::uint64_t last) const;

 private:
  const ProvenIntervals& proven_;
  const BaseLine& line_;
  const ClockMap& reference_;
};

/// The map of the reference, as every process knows it. Collective.
ClockMap shared_map(const trace::Share& share, LocationIndex reference,
                    std::span<const ClockMap> maps);

}  // namespace entrain::causal
