// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "causal/difference_constraints.hpp"

namespace entrain::causal {

/// First and last event of a clock, ticks along its base line; none if first > last.
struct Lifetime {
  std::int64_t first = 0, last = -1;
};

/// Limits on rates, with the intervals that follow from them.
struct Narrowed {
  RateLimits limits;
  ErrorIntervals intervals;
  std::optional<Contradiction> contradiction;  ///< then the rest means nothing
};

/// Turns a limit on wander, which is how far the rate of a clock leaves its mean over its life
/// (`start.wander_ppb`), into limits on the rate of its error along its base line. The two differ
/// by how far the mean rate is from the rate of the line.
///
/// The intervals limit that difference: from the first event to the last one, and between any two
/// windows, where the rate may differ from the mean by the wander. Intervals follow from any limits
/// that are large enough, and smaller limits follow from the intervals; this is repeated a few
/// times. `start.extra_ppb` must be large enough, as k_most_rate_ppb is for all clocks that Entrain
/// deals with. Contradictions are searched only if `may_contradict`. Deterministic.
[[nodiscard]] Narrowed narrow_limits(const DifferenceConstraints& constraints,
                                     std::span<const Lifetime> lives, RateLimits start,
                                     bool may_contradict);

}  // namespace entrain::causal
