// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/report.hpp>

#include "base/team.hpp"
#include "match/graph.hpp"
#include "trace/partition.hpp"

namespace entrain::match {

/// Estimates mu per latency class from the messages of a graph: a quarter of the smallest round
/// trip (docs/method.md, section 4), on the times that `maps` give (one clock map per location:
/// stored stamp -> time).
///
/// For every pair of locations with messages both ways the smallest delays of the two directions
/// are added, so that a constant offset between the clocks cancels. The smallest sum of a class,
/// clamped at 0 and divided by four (rounded down), is its mu; a class without such a pair gets 0.
/// Collective. O(messages).
///
/// Example: clock 1 is 100 ticks behind clock 0. Messages 0 -> 1 seem to take -70 ticks at best,
/// messages 1 -> 0 seem to take 130. The round trip is 60 ticks, and mu is 15.
MuTicks round_trip_mu(Team& team, const trace::Partition& partition, const Graph& graph,
                      std::span<const ClockMap> maps);

}  // namespace entrain::match
