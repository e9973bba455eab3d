// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include <entrain/error.hpp>

#include "formats/otf2/format/definition_file.hpp"
#include "formats/otf2/read/archive.hpp"

namespace entrain::otf2 {

/// Copies the global definitions with the range of ClockProperties widened to hold [first, last].
/// If the new numbers fit into the old bytes, only those change; otherwise the file is packed
/// again.
Result<void> write_global_definitions(const std::filesystem::path& from,
                                      const std::filesystem::path& to, std::uint64_t chunk_size,
                                      std::int64_t first, std::int64_t last);

/// Copies local definitions with every ClockOffset set to 0, in place; without them if they are out
/// of order, so that no reader could take the copy. A missing file stays missing.
Result<void> write_neutral_definitions(const std::filesystem::path& from,
                                       const std::filesystem::path& to, std::uint64_t chunk_size);

/// Copies local definitions with `offsets` instead of their ClockOffset records; a missing file is
/// made. A file that holds exactly these records already is copied as it is.
Result<void> write_local_definitions(const std::filesystem::path& from,
                                     const std::filesystem::path& to, std::uint64_t chunk_size,
                                     bool big_endian, std::span<const trace::ClockOffset> offsets);

/// The same of a file that was read already; without `file` there is none.
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
