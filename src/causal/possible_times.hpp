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

/// Turns proven intervals of errors into the earliest and latest possible times of events, by the
/// map of the reference.
class PossibleTimes {
 public:
  /// Both must outlive this; `reference` as shared_map() gives it.
  PossibleTimes(const ProvenIntervals& proven, const ClockMap& reference)
      : proven_(proven),
        line_(proven.lines[proven.clock_of[proven.reference]]),
        reference_(reference) {}

  /// The interval of the error of a location's clock line anywhere in a window; [0, 0] for the
  /// reference itself.
  [[nodiscard]] ErrorIntervals::Interval errors(LocationIndex l, std::uint32_t window) const;
  /// The possible times of an event of location `l` with stamp `local`. `errors`: those of its
  /// window, bounded.
  [[nodiscard]] TickRange at(LocationIndex l, std::uint64_t local,
                             const ErrorIntervals::Interval& errors) const;
  /// The stamp of a location in the middle of a window. If the location, which has events from
  /// `first` to `last`, begins later or ends earlier: the stamp of the nearest event.
  [[nodiscard]] std::uint64_t middle(LocationIndex l, std::uint32_t window, std::uint64_t first,
                                     std::uint64_t last) const;

 private:
  const ProvenIntervals& proven_;
  const BaseLine& line_;
  const ClockMap& reference_;
};

/// The map of the location `reference`, which its owner sends to every process. Collective.
ClockMap shared_map(const trace::Share& share, LocationIndex reference,
                    std::span<const ClockMap> maps);

}  // namespace entrain::causal
