// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "base/ids.hpp"
#include "base/team.hpp"
#include "formats/otf2/read/archives.hpp"
#include "trace/share.hpp"
#include "trace/workers.hpp"

namespace entrain::otf2 {

/// Opens the archives of a run and scans the locations of this process on its threads. `together`:
/// per location, or empty; locations with equal numbers get one owner. Collective over the
/// processes. Errors: those of Archive::open() and Archive::scan_all(), the same at every process;
/// ErrorKind::input if event files are missing and no location has an event, and if the processes
/// see different anchors or definitions.
Result<trace::LoadedTrace> load(trace::Workers& workers,
                                std::span<const std::filesystem::path> paths, Progress* progress,
                                std::span<const std::uint32_t> together = {});
/// The same of one path, and in this process alone.
inline Result<trace::LoadedTrace> load(const std::filesystem::path& path, unsigned threads,
                                       Progress* progress) {
  trace::Workers workers(threads);
  return load(workers, {&path, 1}, progress);
}

/// The error for an archive none of whose event files exists. `path` is for the message.
tl::unexpected<Error> no_event_files(const std::string& path);

/// The archives of a trace that load() has read.
[[nodiscard]] inline const Archives& archives_of(const trace::LoadedTrace& loaded) {
  return static_cast<const Archives&>(*loaded.reader);
}
/// The one of them that a location is in.
[[nodiscard]] inline const Archive& archive_of(const trace::LoadedTrace& loaded,
                                               LocationIndex location = 0) {
  return archives_of(loaded).of(location);
}

// Processes of a run may see different files under one name: folders that are local to machines,
// copies of different age. Each would then correct a part of another trace. Nothing is checked for
// a process alone.

/// Refuses an archive of whose common files (Archive::common_files()) the processes see different
/// ones. Collective. Errors: ErrorKind::input, naming the file, the same at every process.
Result<void> check_same_common_files(Team& processes, const Archive& archive);

/// Refuses a trace of whose locations' files the owner and the process after it see different ones,
/// by size and age: two looks at each file, however many processes there are. Collective. Errors:
/// as above.
Result<void> check_same_files(Team& processes, const trace::LoadedTrace& loaded);

}  // namespace entrain::otf2
