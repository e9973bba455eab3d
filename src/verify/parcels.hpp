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

/// The ends of the processes of one member, by destination: sends go to the member that owns the
/// receiving process, receives stay here.
struct EndParcels {
  std::vector<ChannelParcel> sends;  ///< one per member
  ChannelParcel receives;
};

/// Writes the ends and frees the posts of the outlines one by one. `maps`: per location, stored
/// stamp -> time. Linear, except that ends not stored in posting order are sorted.
EndParcels write_ends(const trace::Share& share, const Places& places,
                      std::span<const ClockMap> maps, std::span<Outline> outlines);

/// The facts about the same ends in the same order.
struct EndFactParcels {
  std::vector<FactParcel> sends;  ///< one per member
  FactParcel receives;
};

/// Walks through the messages of this member once more, and exchanges the facts about them. Made
/// only if messages are missing: 24 bytes per end. Collective. O(n log records of clocks).
EndFactParcels exchange_facts(const trace::Share& share, const Places& places);

/// Writes the calls, one parcel per member, each to the home of its block of ordinals, and frees
/// the outlines one by one. `limits`: per space, number of instances that can be complete
/// (SpaceCounts); later calls are skipped. Linear.
std::vector<CallParcel> write_calls(const trace::Share& share, const Places& places,
                                    std::span<const ClockMap> maps,
                                    std::span<const std::uint32_t> limits,
                                    std::vector<Outline>&& outlines);

}  // namespace entrain::verify
