// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "trace/share.hpp"
#include "verify/call_blocks.hpp"
#include "verify/channels.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// Names and sizes of the channel sides of one member's processes: sends go to the member that owns
/// the receiving process, receives stay here.
struct EndHeads {
  std::vector<HeadParcel> sends;  ///< one per member
  HeadParcel receives;
};

/// Lists the channels of this member's outlines, and exchanges them: afterwards sends[r] come from
/// member r. Collective.
EndHeads list_channels(const trace::Share& share, const Places& places,
                       std::span<const Outline> outlines);

/// The ends of the channels of EndHeads, in the same order.
struct EndParcels {
  std::vector<ChannelParcel> sends;  ///< one per member
  ChannelParcel receives;
};

/// Writes the ends, frees the posts of the outlines one by one, and exchanges the ends. `maps`: per
/// location, stored stamp -> time. `with_facts`: 24 more bytes per end. Collective. Linear.
EndParcels exchange_ends(const trace::Share& share, const Places& places,
                         std::span<const ClockMap> maps, std::span<Outline> outlines,
                         bool with_facts);

/// Writes the calls, one parcel per member, each to the home of its block of ordinals, and frees
/// the outlines one by one. `limits`: per space, number of instances that can be complete
/// (SpaceCounts); later calls are skipped. Linear.
std::vector<CallParcel> write_calls(const trace::Share& share, const Places& places,
                                    std::span<const ClockMap> maps,
                                    std::span<const std::uint32_t> limits,
                                    std::vector<Outline>&& outlines);

}  // namespace entrain::verify
