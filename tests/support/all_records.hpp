// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>

namespace entrain::test {

/// Number of event record types of OTF2 3.0.
inline constexpr unsigned k_event_record_types = 79;

struct AllRecordsOptions {
  unsigned events_per_location = 45'000;  ///< enough for several chunks of 256 KiB
  std::uint64_t base_time = 0;            ///< stamp of the first event; 0: several events at time 0
  bool clock_offsets = true;              ///< 0, 1, 2, 3 records on different locations
  bool mappings = true;                   ///< dense, sparse and no mapping tables
  bool side_files = true;                 ///< markers, snapshots, thumbnails
  bool buffer_flushes = true;  ///< flushes by the library, beside those the generator writes
};

/// Writes an archive with everything the format knows: all 79 event record types, attribute lists
/// of all types (some longer than 16 entries, so with long lengths), undefined values, equal
/// stamps, several chunks, flushes, sparse 64-bit location ids, an empty location, a metric
/// location and an accelerator one. Same seed and options, same bytes. Returns the anchor's path.
std::filesystem::path write_all_records_archive(const std::filesystem::path& directory,
                                                std::uint64_t seed,
                                                const AllRecordsOptions& options = {});

}  // namespace entrain::test
