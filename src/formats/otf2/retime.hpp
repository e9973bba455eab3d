// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/progress.hpp>

#include "formats/otf2/format/walk.hpp"
#include "formats/otf2/read/archive.hpp"

namespace entrain::otf2 {

/// The effect of a BufferFlush's stop time on the segment of the clock map that is in use.
enum class StopTimes {
  move_segment,  ///< behaves like an OTF2 reader: the stop time's segment holds for all later
                 ///< events, even if their times are earlier than the stop time
  stand_alone,   ///< none: every event is mapped by the segment of its own time
};

/// A file to be copied with other times.
struct Retiming {
  std::filesystem::path from;
  std::filesystem::path to;  ///< must not exist
  std::uint64_t chunk_size = 0;
  const ClockMap& map;  ///< stored stamp -> new stamp; must outlive this
  StopTimes stops = StopTimes::move_segment;
  Progress* progress = nullptr;  ///< may be null; counts bytes, may cancel
};

/// Copies an event or snapshot file with every time mapped. A stamp always has 8 bytes, so a new
/// time takes the place of the old one. All other bytes stay, whatever the records are, also those
/// after the end mark. `framing` is events or snapshots. Errors: ErrorKind::input (damaged, or a
/// time that would become negative), ErrorKind::output, ErrorKind::interrupted.
Result<void> retime_file(const Retiming& retiming, Framing framing);

/// A definition file, and the chunk size of its archive.
struct ChunkedPath {
  std::filesystem::path path;
  std::uint64_t chunk_size = 0;
};

/// Numbers of the global definitions that follow from the events of a new archive.
struct NewNumbers {
  std::int64_t first = 0, last = 0;  ///< times, ticks
  /// Numbers of events, by id of the location; others keep theirs.
  std::unordered_map<std::uint64_t, std::uint64_t> events{};
};

/// Copies the global definitions with the range of ClockProperties widened to hold the times, and
/// with other numbers of events. Errors: ErrorKind::input for a damaged file, ErrorKind::output.
Result<void> write_global_definitions(const ChunkedPath& from, const std::filesystem::path& to,
                                      const NewNumbers& numbers);

/// Copies local definitions, the contents of `from`, with every ClockOffset set to 0, in place;
/// without them if they are out of order, so that no reader could take the copy. Without `file`
/// there is none, and none is made.
Result<void> write_neutral_definitions(std::optional<DefinitionFile> file, const ChunkedPath& from,
                                       const std::filesystem::path& to);

/// Copies local definitions, the contents of `from`, with `offsets` instead of their ClockOffset
/// records. Without `file` there is none, and one is made in this byte order. A file that holds
/// exactly these records already is copied as it is.
Result<void> write_local_definitions(std::optional<DefinitionFile> file, const ChunkedPath& from,
                                     const std::filesystem::path& to, bool big_endian,
                                     std::span<const trace::ClockOffset> offsets);

/// A time of a marker; `location` is k_none if the marker belongs to no single location.
struct MarkerTime {
  LocationIndex location = k_none;
  std::uint64_t time = 0;
};

/// Begin and end of every marker, in the order of the file. None without a marker file.
Result<std::vector<MarkerTime>> read_marker_times(const Archive& archive);

/// Copies the marker file with `times`, one per entry of read_marker_times(), in place of the old
/// times; if `times` is empty, unchanged.
Result<void> write_markers(const Archive& archive, const std::filesystem::path& to,
                           std::span<const std::int64_t> times);

}  // namespace entrain::otf2
