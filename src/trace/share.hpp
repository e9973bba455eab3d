// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "base/team.hpp"
#include "trace/partition.hpp"
#include "trace/trace.hpp"

namespace entrain::trace {

/// The share of a trace that one member of a team works on: every step that is done together takes
/// one. Holds references only; all must outlive it.
///
/// Example: two processes correct a trace of four locations. In the first one `team.rank()` is 0,
/// `partition.owner` is {0, 0, 1, 1}, own() is {0, 1}, and the skeletons of locations 2 and 3 in
/// `trace` are empty there.
struct Share {
  Team& team;
  const Partition& partition;
  const Trace& trace;

  /// True if this member works on the location.
  [[nodiscard]] bool owns(LocationIndex location) const {
    return partition.owns(team.rank(), location);
  }
  /// The locations of this member, in increasing order. O(locations).
  [[nodiscard]] std::vector<LocationIndex> own() const {
    return locations_of(partition, team.rank());
  }
};

}  // namespace entrain::trace
