// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "difference/system.hpp"

namespace entrain::difference {

/// True if all clocks that meet `other` meet `one`, which joins the same two clocks in the same
/// direction: in the time between them, offsets change by no more than their rates allow.
///
/// Example: clocks of at most 100 ppm. A message took 10 us as stamped. One from the same clock to
/// the same clock 1 ms later took 20 us: offsets change by at most 0.2 us in 1 ms, so it is met
/// wherever the first one is.
[[nodiscard]] inline bool is_implied_by(const Edge& one, const Edge& other,
                                        const RateRange& of_cause, const RateRange& of_effect) {
  const Exact more = Exact{one.effect.stamp - other.effect.stamp} -
                     (one.cause.stamp - other.cause.stamp) - (one.delay - other.delay);
  return more * k_tick >= of_effect.most(other.effect.stamp - one.effect.stamp) +
                              of_cause.most(one.cause.stamp - other.cause.stamp);
}

/// The edges that no other one implies; of equal ones, one. With these limits on rates, and with
/// any inside them, they have the same solutions as all, so a system of them is as good: where
/// clocks talk often, it is much smaller. In order of clocks and stamps. O(n log n).
std::vector<Edge> without_implied(std::span<const Edge> edges, std::span<const ClockLimits> clocks);

}  // namespace entrain::difference
