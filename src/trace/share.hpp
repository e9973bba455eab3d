// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <vector>

#include <entrain/error.hpp>

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

/// A trace as one process of a run holds it.
struct LoadedTrace {
  std::shared_ptr<EventReader> reader;  ///< reader of the events; null: there are no files
  Trace trace;          ///< skeletons of this process's locations; those of others are empty
  Partition partition;  ///< partition of the locations among the processes of the run

  /// The share of this process; this and `team` must outlive it.
  [[nodiscard]] Share share(Team& team) const { return {team, partition, trace}; }
  /// The locations of this process.
  [[nodiscard]] std::vector<LocationIndex> own(const Team& processes) const {
    return locations_of(partition, processes.rank());
  }
};

/// Refuses a trace whose files have changed since they were first read: a result would be of
/// neither the old nor the new ones. Collective over the processes. Errors: ErrorKind::input.
inline Result<void> check_unchanged(Team& processes, const LoadedTrace& loaded) {
  return processes.agree(loaded.reader == nullptr ? Result<void>()
                                                  : loaded.reader->check_unchanged());
}

}  // namespace entrain::trace
