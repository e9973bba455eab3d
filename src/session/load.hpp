// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <entrain/progress.hpp>

#include "otf2/read/archive.hpp"
#include "session/workers.hpp"
#include "trace/share.hpp"
#include "trace/trace.hpp"

namespace entrain::session {

/// A trace as one process of a run holds it.
///
/// Example: two processes load a trace of four locations, two per traced process. In the second one
/// `partition.owner` is {0, 0, 1, 1}, own() is {2, 3}, and `trace.locations` has four entries, of
/// which the first two are empty. The definitions are complete in both.
struct LoadedTrace {
  std::unique_ptr<trace::Source> source;  ///< the trace on disk
  trace::Trace trace;          ///< skeletons of this process's locations; those of others are empty
  trace::Partition partition;  ///< partition of the locations among the processes of the run

  /// The share of this process; this and `team` must outlive it.
  [[nodiscard]] trace::Share share(Team& team) const { return {team, partition, trace}; }
  /// The locations of this process.
  [[nodiscard]] std::vector<LocationIndex> own(const Team& processes) const {
    return trace::locations_of(partition, processes.rank());
  }
};

/// Opens a trace and scans the locations of this process on its threads. `together`: per
/// location, or empty; locations with equal numbers get one owner. Collective over the processes.
/// Errors: those of open_trace() and Source::scan_all(), the same at every process;
/// ErrorKind::input if event files are missing and no location has an event, and if the processes
/// see different anchors or definitions.
Result<LoadedTrace> load(Workers& workers, const std::filesystem::path& path, Progress* progress,
                         std::span<const std::uint32_t> together = {});
/// The same in this process alone.
Result<LoadedTrace> load(const std::filesystem::path& path, unsigned threads, Progress* progress);

/// Refuses a trace whose files have changed since load() began to read them: a result would be of
/// neither the old nor the new ones. Collective over the processes. Errors: ErrorKind::input.
Result<void> check_unchanged(Team& processes, const LoadedTrace& loaded);

/// The error for a trace none of whose event files exists. `path` is for the message.
tl::unexpected<Error> no_event_files(const std::string& path);

/// The source of a trace as an OTF2 archive, for steps that read or write the files themselves.
/// ErrorKind::input for a trace in another format.
Result<const otf2::Archive*> otf2_archive(const LoadedTrace& loaded);
/// The same for a source that was only opened.
Result<const otf2::Archive*> otf2_archive(const trace::Source& source);

}  // namespace entrain::session
