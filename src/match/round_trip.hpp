// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "base/ids.hpp"
#include "base/team.hpp"
#include "match/graph.hpp"
#include "trace/partition.hpp"

namespace entrain::match {

/// The apparent delay of one message, measured by clocks that need not agree.
struct OneWayDelay {
  LocationIndex from = k_none;
  LocationIndex to = k_none;
  LatencyClass latency_class = LatencyClass::other;
  std::int64_t delay_ticks = 0;  ///< receive minus send; negative where the clocks disagree
};

/// Estimates mu per latency class: a quarter of the smallest round trip (docs/method.md,
/// section 4).
///
/// For every pair of locations with messages both ways the smallest delays of the two directions
/// are added, so that a constant offset between the clocks cancels. The smallest sum of a class,
/// clamped at 0 and divided by four (rounded down), is its mu; a class without such a pair gets 0.
/// Delays inside one location are ignored. Takes the delays by value and sorts them in place: pass
/// an rvalue. Deterministic, whatever the order of the delays. O(n log n).
///
/// Example: clock 1 is 100 ticks behind clock 0. Messages 0 -> 1 seem to take -70 ticks at best,
/// messages 1 -> 0 seem to take 130. The round trip is 60 ticks, and mu is 15.
[[nodiscard]] MuTicks estimate_round_trip_mu(std::vector<OneWayDelay> delays);

/// The same for the messages of a graph, on the times that `maps` give (one clock map per location:
/// stored stamp -> time). Collective.
MuTicks round_trip_mu(Team& team, const trace::Partition& partition, const Graph& graph,
                      std::span<const ClockMap> maps);

}  // namespace entrain::match
