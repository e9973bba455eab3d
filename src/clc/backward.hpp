// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>

#include "base/big_vector.hpp"
#include "clc/forward.hpp"
#include "match/extremes.hpp"
#include "match/graph.hpp"
#include "match/halo.hpp"

namespace entrain::clc {

/// "No receiver": a node that may move as far as it likes.
inline constexpr std::int64_t k_no_limit = -match::k_no_demand;

/// Latest time that each node of this member may move to without violating an edge: the minimum
/// over its receivers of LC' - mu, k_no_limit without receivers. Never earlier than LC' itself.
/// `forward` has the times of ghosts too. O(edges + participants), on up to `threads` threads (0:
/// all cores), on which the result does not depend. Collective.
BigVector<std::int64_t> send_limits(match::HaloExchange& halo, const Cycles& cycles,
                                    std::span<const std::int64_t> forward, const MuTicks& mu,
                                    unsigned threads = 1);

/// A point where the displacement curve of a location bends: local ticks, ticks.
struct Bend {
  std::uint64_t stamp = 0;
  std::int64_t displacement = 0;

  friend bool operator==(const Bend&, const Bend&) = default;
};

/// A ramp, left to right: it ends at the top of a jump (the last bend).
using Ramp = std::vector<Bend>;

/// A location after forward amortization; all spans have one entry per node.
struct DisplacedLocation {
  std::span<const std::uint64_t> stamps;    ///< local ticks, strictly increasing
  std::span<const std::int64_t> lower;      ///< d: displacement after forward amortization, >= 0
  std::span<const std::int64_t> limit;      ///< largest displacement allowed, >= lower; empty
                                            ///< without backward amortization
  const std::vector<bool>* jump = nullptr;  ///< flags of all nodes; this location's begin at
                                            ///< first_node
  NodeIndex first_node = 0;
  const ClockMap* presync_map = nullptr;  ///< stamp -> C
  std::uint64_t first_stamp = 0;          ///< stamp of its first event: ramps end here
  Decimal9 max_slope;
  Decimal9 gamma;  ///< d decays with slope 1 - gamma

  [[nodiscard]] bool jumps_at(std::size_t node) const { return (*jump)[first_node + node]; }
};

/// Builds up every jump by a ramp before it (docs/method.md, section 5) and returns the ramps from
/// right to left; `displacement` (one per node, preset to d) is raised to max(d, ramp), rounded
/// down.
///
/// A ramp falls from the top of its jump to the left with slope `max_slope` until it meets d. Where
/// a limit lies under it, it is the lower convex hull of the limits and the top. Where an earlier
/// top would press that hull down, the hull has met d: it rests on that top and goes on as that
/// top's ramp. Among all curves between d and the limits this is the shortest one, found by the
/// funnel algorithm (Lee and Preparata 1984) in one pass from right to left, linear in nodes.
///
/// Example with max_slope 0.01: a location begins at stamp 0 and has nodes at 5,000, 8,000 and
/// 10,000. Only the last one moves, by a jump of 40 ticks. The ramp falls from 40 by 1 tick per 100
/// and reaches 0 at 6,000, so its bends are (6,000; 0) and (10,000; 40), and the displacements of
/// the nodes become 0, 20 and 40. If the node at 8,000 had a message whose receiver leaves it only
/// 10 ticks (limit 10), the ramp would be steeper to the right of it, with bends (7,000; 0),
/// (8,000; 10) and (10,000; 40).
std::vector<Ramp> build_ramps(const DisplacedLocation& input, std::span<std::int64_t> displacement);

}  // namespace entrain::clc
