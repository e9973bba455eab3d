// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <unordered_map>

#include <entrain/error.hpp>

namespace entrain::otf2 {

/// Copies the global definitions with other numbers of events in the definitions of locations.
/// `counts`: by OTF2 location id; other locations keep theirs. `to` must not exist. Errors:
/// ErrorKind::input for a damaged file, ErrorKind::output.
Result<void> write_event_counts(const std::filesystem::path& from, const std::filesystem::path& to,
                                std::uint64_t chunk_size,
                                const std::unordered_map<std::uint64_t, std::uint64_t>& counts);

}  // namespace entrain::otf2
