// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "causal/bounds_proof.hpp"

namespace entrain::causal {

/// First and last event of a clock, ticks along its base line; none if first > last.
struct Lifetime {
  std::int64_t first = 0, last = -1;
};

/// Limits with what follows from them.
struct Narrowed {
  RateLimits limits;
  ErrorIntervals intervals;
  std::optional<Contradiction> contradiction;  ///< then the rest means nothing
};

/// From a limit on how far the rate of a clock leaves its mean over its life (`start.wander_ppb`)
/// to limits on the rate of its error along its base line, whose own rate is another one.
///
/// How far the mean may be from the line the intervals tell: from the first event to the last one,
/// and, less a wander more, between any two windows. They follow from any limits that are large
/// enough, so smaller limits follow from them, and so on, a few times. `start.extra_ppb` must be
/// large enough, as k_most_rate_ppb is for all clocks that Entrain deals with. Contradictions are
/// looked for only if `doubtful`. Deterministic.
[[nodiscard]] Narrowed narrow_limits(const Guarantee& guarantee, std::span<const Lifetime> lives,
                                     RateLimits start, bool doubtful);

}  // namespace entrain::causal
