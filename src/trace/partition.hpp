// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"
#include "trace/definitions.hpp"

namespace entrain::trace {

/// Which member of a team works on which location. All locations of one process belong to one
/// member, as its threads share channels, calls and locks.
///
/// Example: three processes with two threads each have the locations 0 to 5, all of equal weight.
/// divide() among two members gives `owner` {0, 0, 1, 1, 1, 1}: a process lies where its middle
/// lies, and that of the second one is exactly the middle of the whole.
struct Partition {
  std::vector<std::uint32_t> owner;  ///< rank in the team of each location's owner

  [[nodiscard]] bool owns(std::uint32_t rank, LocationIndex location) const {
    return owner[location] == rank;
  }
};

/// The locations of one member, in increasing order. O(locations).
std::vector<LocationIndex> locations_of(const Partition& partition, std::uint32_t rank);

/// Gives all locations to rank 0.
Partition undivided(const Definitions& definitions);

/// Cuts the processes, in order of their first location, into `members` blocks of about equal
/// weight: neighbours in rank mostly talk to each other, so they stay together. `weight` has one
/// entry per location (bytes of its event file). Deterministic; members may own nothing.
/// `together`: per location, or empty; processes that have locations of equal numbers get one
/// owner. O(locations).
Partition divide(const Definitions& definitions, std::span<const std::uint64_t> weight,
                 unsigned members, std::span<const std::uint32_t> together = {});

}  // namespace entrain::trace
