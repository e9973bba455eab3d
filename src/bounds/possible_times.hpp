// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include <entrain/clock_map.hpp>

#include "bounds/prove.hpp"

namespace entrain::bounds {

struct TickRange {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  std::int64_t most = std::numeric_limits<std::int64_t>::min();
  void take(std::int64_t value) {
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
};

/// Converts proven intervals of errors into the earliest and latest possible times of events, by
/// the map of the reference.
class PossibleTimes {
 public:
  /// Both must outlive this; `reference`: result of shared_map().
  PossibleTimes(const ProvenIntervals& proven, const ClockMap& reference)
      : proven_(proven),
        line_(proven.lines[proven.clock_of[proven.reference]]),
        reference_(reference) {}

  /// Interval of the errors of a location's base line from stamp `first` to `last`; [0, 0] for the
  /// reference.
  [[nodiscard]] Interval errors(LocationIndex l, std::uint64_t first, std::uint64_t last) const;
  /// Possible times of an event of location `l` with stamp `local`. `errors`: its bounded interval.
  [[nodiscard]] TickRange at(LocationIndex l, std::uint64_t local, const Interval& errors) const;
  /// Stamp of a location in the middle of a window, clamped to its events, `first` to `last`.
  [[nodiscard]] std::uint64_t middle(LocationIndex l, std::uint32_t window, std::uint64_t first,
                                     std::uint64_t last) const;

 private:
  const ProvenIntervals& proven_;
  const constraints::BaseLine& line_;
  const ClockMap& reference_;
};

/// Map of the location `reference`, broadcast by its owner. Collective.
ClockMap shared_map(const trace::Share& share, LocationIndex reference,
                    std::span<const ClockMap> maps);

}  // namespace entrain::bounds
