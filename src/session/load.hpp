// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <entrain/progress.hpp>

#include "otf2/read/archive.hpp"
#include "session/workers.hpp"
#include "trace/partition.hpp"
#include "trace/share.hpp"
#include "trace/trace.hpp"

namespace entrain::session {

/// An archive with everything that the correction works on.
struct LoadedTrace {
  std::unique_ptr<otf2::Archive> archive;
  trace::Trace trace;          ///< skeletons of this process's locations; those of others are empty
  trace::Partition partition;  ///< over the processes of the run

  /// The share of `team`'s member; the trace and `team` must outlive it.
  [[nodiscard]] trace::Share share(Team& team) const { return {team, partition, trace}; }
  /// The locations of this process.
  [[nodiscard]] std::vector<LocationIndex> own(const Team& processes) const {
    return trace::locations_of(partition, processes.rank());
  }
};

/// Opens an archive and scans the locations of this process on its threads. `together`: per
/// location, or empty; those with equal numbers get one owner. Collective over the processes.
/// Errors: ErrorKind::input, ErrorKind::interrupted.
Result<LoadedTrace> load(Workers& workers, const std::filesystem::path& path, Progress* progress,
                         std::span<const std::uint32_t> together = {});
/// Opens an overlay of `original`, whose events it takes over where both share the event files: the
/// skeletons of `original` are gone then. It keeps what else it has. Collective; errors as load().
Result<LoadedTrace> load_overlay(Workers& workers, const std::filesystem::path& path,
                                 LoadedTrace& original);
/// In this process alone.
Result<LoadedTrace> load(const std::filesystem::path& path, unsigned threads, Progress* progress);

}  // namespace entrain::session
