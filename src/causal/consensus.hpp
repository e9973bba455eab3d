// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <entrain/error.hpp>

#include "causal/constraint.hpp"

namespace entrain::causal {

/// How far a clock has been moved by an alignment: time as shown minus time as aligned, straight
/// over aligned time. Ticks.
struct ClockShift {
  std::int64_t base = 0;  ///< aligned time
  double offset = 0;      ///< there
  double rate = 0;

  [[nodiscard]] double at(std::int64_t time) const {
    return offset + rate * static_cast<double>(time - base);
  }
};

/// Where aligned clocks go so that most of them show what they showed before.
struct Consensus {
  std::uint32_t reference = 0;  ///< it shows what it showed before
  std::vector<char> stays;      ///< per clock: it does, too
  /// Per clock that does not stay: what to add to its aligned time, besides the line of the
  /// reference, ticks.
  std::vector<double> shift;
  bool complete = true;  ///< false: that of some clocks took too long to find out, so they do not
};

/// Finds a consensus of aligned clocks that told the same time before, more or less.
///
/// The reference, if none is given, is the clock whose move in the middle of the run is the median
/// of all. Clocks are taken in order of their distance from it, and each one stays if the others
/// can then still be placed so that no constraint is violated by more than it is by the alignment.
/// The others, which cannot have been right, stay where the alignment has put them, seen from the
/// reference, if that violates nothing. Else they come to the centre of what the constraints leave:
/// the middle between their earliest and latest places, given those that stay; or to the end, if
/// only one is known.
///
/// `constraints` are by aligned times, between all clocks; `moved`: one per clock. `middle`: of the
/// run. `check`: asked for every clock whether to go on; its errors end the work. Deterministic;
/// O(clocks * pairs of clocks), mostly less, and never more than about 2^27 steps: then the clocks
/// that are left do not stay.
Result<Consensus> find_consensus(std::span<const ClockConstraint> constraints,
                                 std::span<const ClockShift> moved, std::int64_t middle,
                                 std::optional<std::uint32_t> reference,
                                 const std::function<Result<void>()>& check);

/// Per clock, what to add to its times so that it comes to the centre of what the constraints
/// leave: the middle between its earliest and latest place, given the clocks that are `fixed` (not
/// 0, one per clock). 0 for those, for clocks that are not bounded both ways, and if the
/// constraints contradict each other by more than they are violated. Ticks.
[[nodiscard]] std::vector<double> find_centres(std::span<const ClockConstraint> constraints,
                                               std::span<const char> fixed);

}  // namespace entrain::causal
