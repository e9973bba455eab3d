// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <entrain/error.hpp>

#include "constraints/constraint.hpp"

namespace entrain::lines {

/// Shift of a clock by an alignment: time as shown minus time as aligned, linear in aligned time.
/// Ticks.
struct ClockShift {
  std::int64_t base = 0;  ///< aligned time
  double offset = 0;      ///< shift at `base`
  double rate = 0;

  [[nodiscard]] double at(std::int64_t time) const {
    return offset + rate * static_cast<double>(time - base);
  }
};

/// Places of aligned clocks such that most of them show what they showed before.
struct Consensus {
  std::uint32_t reference = 0;  ///< clock that shows what it showed before
  std::vector<char> stays;  ///< 1 if the clock shows what it showed before, else 0; one per clock
  /// Ticks to add to the aligned time of a clock that does not stay, besides the shift of the
  /// reference; one per clock.
  std::vector<double> shift;
  bool complete = true;  ///< false: too many steps; clocks not decided do not stay
};

/// Finds a consensus of aligned clocks that showed roughly the same time before.
///
/// The reference, if none is given, is the clock with the median shift in the middle of the run.
/// Clocks are taken in order of their distance from it, and each one stays if the others can then
/// still be placed so that no constraint is violated by more than it is by the alignment. The
/// others keep their aligned distance from the reference, if that violates nothing. Otherwise they
/// move to the centre of the feasible range, given those that stay, or to its end if only one is
/// known.
///
/// `constraints` are by aligned times, between all clocks; `moved`: one per clock; `middle`: of the
/// run. `check` is called for every clock; its errors end the work. Deterministic; O(clocks * pairs
/// of clocks), mostly less. After 2^27 steps no further clock is decided, and those do not stay.
Result<Consensus> find_consensus(std::span<const constraints::ClockConstraint> constraints,
                                 std::span<const ClockShift> moved, std::int64_t middle,
                                 std::optional<std::uint32_t> reference,
                                 const std::function<Result<void>()>& check);

}  // namespace entrain::lines
