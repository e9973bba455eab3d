// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <entrain/report.hpp>

#include "base/ids.hpp"

namespace entrain::verify {

/// The apparent delay of one message on clocks that need not agree.
struct OneWayDelay {
  LocationIndex from = k_none;
  LocationIndex to = k_none;
  LatencyClass latency_class = LatencyClass::other;
  std::int64_t delay_ticks = 0;  ///< receive minus send; negative where the clocks disagree
};

/// Guesses mu per latency class: a quarter of the smallest round trip (docs/method.md, section 4).
///
/// For every pair of locations with messages both ways the smallest delays of the two directions
/// are added, so that a constant offset between the clocks cancels. The smallest sum of a class,
/// clamped at 0 and divided by four (rounded down), is its mu; a class without such a pair gets 0.
/// Delays inside one location are ignored. Takes the delays by value and sorts them in place: pass
/// an rvalue. Deterministic, whatever the order of the delays.
[[nodiscard]] MuTicks estimate_round_trip_mu(std::vector<OneWayDelay> delays);

}  // namespace entrain::verify
