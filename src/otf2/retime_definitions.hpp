// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>

#include <entrain/error.hpp>

#include "otf2/archive.hpp"

namespace entrain::otf2 {

/// Copies the global definitions with a ClockProperties record that holds [first, last]: in place
/// if the new numbers fit into the old bytes, by packing the file again otherwise.
Result<void> write_global_definitions(const std::filesystem::path& from,
                                      const std::filesystem::path& to, std::uint64_t chunk_size,
                                      std::int64_t first, std::int64_t last);

/// Copies local definitions with every ClockOffset set to 0, in place. A missing file stays
/// missing.
Result<void> write_neutral_definitions(const std::filesystem::path& from,
                                       const std::filesystem::path& to, std::uint64_t chunk_size);

/// Copies local definitions with `offsets` instead of their ClockOffset records; a missing file is
/// made. A file that holds exactly these records already is copied as it is.
Result<void> write_local_definitions(const std::filesystem::path& from,
                                     const std::filesystem::path& to, std::uint64_t chunk_size,
                                     bool big_endian, std::span<const trace::ClockOffset> offsets);

/// Copies a marker file with times mapped by `marker_time` (see WritePlan).
Result<void> write_markers(
    const Archive& archive, const std::filesystem::path& to,
    const std::function<std::int64_t(LocationIndex, std::uint64_t)>& marker_time);

}  // namespace entrain::otf2
