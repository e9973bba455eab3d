// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "trace/share.hpp"
#include "verify/calls.hpp"
#include "verify/channels.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// The operations of the processes of one member, sorted by where they meet their partners: sends
/// at the member that owns the receiving process, receives here, and calls at the home of their
/// block of ordinals.
struct Parcels {
  std::vector<ChannelParcel> sends;  ///< by member
  ChannelParcel receives;
  std::vector<CallParcel> calls;  ///< by member
};

/// Writes the parcels and frees the outlines one by one. `maps`: per location, stored stamp ->
/// time. `limits`: per space, how many instances can be complete (SpaceCounts); later calls are
/// left out. Linear, but for ends that are not stored in posting order, which are sorted.
Parcels write_parcels(const trace::Share& share, const Places& places,
                      std::span<const ClockMap> maps, std::span<const std::uint32_t> limits,
                      std::vector<Outline>&& outlines);

}  // namespace entrain::verify
