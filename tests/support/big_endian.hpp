// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>

namespace entrain::test {

/// The contents of an archive's files, counted byte by byte.
struct FormatCensus {
  std::array<std::uint64_t, 256> event_types{};      ///< event records per type
  std::array<std::uint64_t, 256> attribute_types{};  ///< attributes per OTF2_Type
  std::array<std::uint64_t, 9> integer_sizes{};      ///< compressed integers of 0 .. 8 bytes
  std::uint64_t undefined = 0;     ///< compressed integers that are the single byte 0xFF
  std::uint64_t long_lengths = 0;  ///< record and list lengths of the form 0xFF + 8 bytes
  std::uint64_t chunks = 0;
};

/// Copies an archive of a little-endian machine as one of a big-endian machine would have written
/// it: every fixed-size value and every compressed integer of anchor, definitions and events is
/// turned round, nothing else changes. Knows the layout of every record by itself, without the
/// product and without the OTF2 library. Markers, snapshots and thumbnails are left out.
/// Throws std::runtime_error for a record that does not have the layout it should have.
FormatCensus make_big_endian(const std::filesystem::path& anchor,
                             const std::filesystem::path& to_folder);

}  // namespace entrain::test
