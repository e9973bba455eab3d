// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <unordered_map>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "formats/otf2/read/archive.hpp"
#include "formats/otf2/write/filter_events.hpp"
#include "output/output.hpp"

namespace entrain::otf2 {

/// How a new archive differs from an old one: the same times, some records less.
struct FilterPlan {
  /// A filter per location, used by one thread at a time. They must outlive the call.
  std::span<EventFilter* const> filters;
  OutputRule rule;  ///< rule of the output
  unsigned threads = 0;
  Progress* progress = nullptr;  ///< counts bytes of events
};

/// An archive that was written.
struct FilteredArchive {
  std::filesystem::path anchor;
  std::uint64_t leftovers_removed = 0;    ///< folders of killed runs
  std::vector<FilteredEvents> locations;  ///< one per location; zeros without an event file
};

/// Writes the records that the filters keep into the new folder `directory`, under which name it
/// appears when it is complete. Numbers of events in the global definitions are those of the new
/// files; local definitions, snapshots, markers, thumbnails and the anchor are copied. An event
/// file that is missing stays missing. Memory does not grow with the number of events. Errors:
/// ErrorKind::output (no space, exists, permission), ErrorKind::usage (output inside the input),
/// ErrorKind::input (damaged file), ErrorKind::interrupted.
Result<FilteredArchive> filter_archive(const Archive& archive, const FilterPlan& plan,
                                       const std::filesystem::path& directory);

/// Copies the global definitions with other numbers of events in the definitions of locations.
/// `counts`: by OTF2 location id; other locations keep theirs. `to` must not exist. Errors:
/// ErrorKind::input for a damaged file, ErrorKind::output.
Result<void> write_event_counts(const std::filesystem::path& from, const std::filesystem::path& to,
                                std::uint64_t chunk_size,
                                const std::unordered_map<std::uint64_t, std::uint64_t>& counts);

}  // namespace entrain::otf2
