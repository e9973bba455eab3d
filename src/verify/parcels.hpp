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

/// The ends of the processes of one member, sorted by where they meet their partners: sends at the
/// member that owns the receiving process, receives here.
struct EndParcels {
  std::vector<ChannelParcel> sends;  ///< by member
  ChannelParcel receives;
};

/// Writes the ends and frees the posts of the outlines one by one. `maps`: per location, stored
/// stamp -> time. Linear, but for ends that are not stored in posting order, which are sorted.
EndParcels write_ends(const trace::Share& share, const Places& places,
                      std::span<const ClockMap> maps, std::span<Outline> outlines);

/// Writes the calls, each to the member that is the home of its block of ordinals, and frees the
/// outlines one by one. `limits`: per space, how many instances can be complete (SpaceCounts);
/// later calls are left out. By member. Linear.
std::vector<CallParcel> write_calls(const trace::Share& share, const Places& places,
                                    std::span<const ClockMap> maps,
                                    std::span<const std::uint32_t> limits,
                                    std::vector<Outline>&& outlines);

}  // namespace entrain::verify
