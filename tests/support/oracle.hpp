// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "trace/trace.hpp"

/// The OTF2 C library as test oracle: what it reads from an archive, in the product's terms.
///
/// Every function throws std::runtime_error with the library's message when the library refuses.
/// The library aborts or never returns on some damaged input: call it through run_in_child there.
namespace entrain::test {

/// Times of one location as the library returns them.
struct LocationTimes {
  std::uint64_t id = 0;
  std::vector<std::uint64_t> times;        ///< one per event record, in stream order, ticks
  std::vector<std::uint64_t> flush_stops;  ///< stop times of BufferFlush records, in order
  std::vector<std::size_t> flush_events;   ///< position in `times` of each BufferFlush

  friend bool operator==(const LocationTimes&, const LocationTimes&) = default;
};

/// Reads all events with the local readers, in the order of the location definitions.
/// `apply_clock_offsets` false gives the stamps as stored.
std::vector<LocationTimes> library_times(const std::filesystem::path& anchor,
                                         bool apply_clock_offsets = true);

/// The same for some locations only (archives with very many).
std::vector<LocationTimes> library_times_of(const std::filesystem::path& anchor,
                                            const std::vector<std::uint64_t>& locations);

/// Definitions and skeletons, built from library callbacks only: stored stamps, ids mapped to
/// global ones by the library, positions as in the product. With `apply_clock_offsets` stamps are
/// the corrected times, as a reader returns them.
trace::Trace library_trace(const std::filesystem::path& anchor, bool apply_clock_offsets = false);

struct LibraryMarker {
  std::uint64_t time = 0;
  std::uint64_t duration = 0;
  std::uint32_t marker = 0;
  std::uint8_t scope = 0;
  std::uint64_t scope_ref = 0;
  std::string text;

  friend bool operator==(const LibraryMarker&, const LibraryMarker&) = default;
};
std::vector<LibraryMarker> library_markers(const std::filesystem::path& anchor);

/// One record of a snapshot file. `original` equals `time` for the start and end records.
struct LibrarySnapRecord {
  std::uint64_t location = 0;
  std::uint64_t time = 0;
  std::uint64_t original = 0;

  friend bool operator==(const LibrarySnapRecord&, const LibrarySnapRecord&) = default;
};
/// Snapshot records of all locations; empty when the anchor announces no snapshot.
std::vector<LibrarySnapRecord> library_snapshots(const std::filesystem::path& anchor);

}  // namespace entrain::test
