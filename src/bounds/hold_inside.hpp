// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include <entrain/clock_map.hpp>

#include "bounds/prove.hpp"
#include "trace/clock_domains.hpp"
#include "trace/share.hpp"

namespace entrain::bounds {

/// Moves maps that leave the proven intervals back inside: by as little as needed in the middle of
/// every window, linearly in between.
///
/// This breaks no edge that the maps kept, except by the amount that an edge loses inside a window.
/// Proof: the lower ends of all intervals keep every edge, and so do the upper ends. If two sets of
/// times keep every edge, so do the later times of both, and so do the earlier ones.
///
/// `maps`: one per location, the same for all locations of a domain. A map that would decrease
/// stays. A location without any bounded interval follows another location of its process. Returns
/// the largest move, ticks. Collective; the same at every process.
std::int64_t hold_inside(const trace::Share& share, const trace::ClockDomains& domains,
                         const ProvenIntervals& proven, std::span<ClockMap> maps);

}  // namespace entrain::bounds
