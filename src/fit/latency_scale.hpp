// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "fit/problem.hpp"

namespace entrain::fit {

/// Returns an estimate of the least latency, ticks, at least 1: a quarter of the shortest round
/// trip of any pair of clocks in any window of `width` ticks from `begin` on. A round trip is the
/// sum of the slacks of both directions, which no offset changes; sums below 4 ticks do not count.
/// Known `errors` are subtracted (null: 0).
[[nodiscard]] double latency_scale(std::span<const ClockConstraint> constraints, std::int64_t begin,
                                   std::int64_t width, const ClockErrors* errors);

}  // namespace entrain::fit
