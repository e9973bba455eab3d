// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "bounds/difference_constraints.hpp"

namespace entrain::bounds {

/// First and last event of a clock, ticks along its base line; none if first > last.
struct Lifetime {
  std::int64_t first = 0, last = -1;
};

struct Narrowed {
  RateLimits limits;
  ErrorIntervals intervals;
  std::optional<Contradiction> contradiction;  ///< makes the rest meaningless
};

/// Derives limits on the rate of errors along base lines from a limit on wander
/// (`start.wander_ppb`): the largest difference of a clock's rate from its mean over its life. The
/// two differ by the difference between the mean rate and the rate of the line.
///
/// Intervals bound that difference: from the first event to the last one, and between any two
/// windows, where the rate may differ from the mean by the wander. Smaller limits give narrower
/// intervals and vice versa, so both are iterated. `start.extra_ppb` must be large enough;
/// k_most_rate_ppb is for all clocks that Entrain deals with. Contradictions are searched only if
/// `may_contradict`. Deterministic.
[[nodiscard]] Narrowed narrow_limits(const DifferenceConstraints& constraints,
                                     std::span<const Lifetime> lives, RateLimits start,
                                     bool may_contradict);

}  // namespace entrain::bounds
