// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>

#include "support/files.hpp"

namespace entrain::test {

/// Location id of rank `rank` in write_many_locations: sparse, as with threads.
constexpr std::uint64_t many_location_id(std::uint32_t rank) { return std::uint64_t{rank} * 3; }

/// The event file of one of `count` ranks with every stamp `shift` ticks later.
Bytes many_event_file(std::uint32_t rank, std::uint32_t count, std::uint64_t shift = 0);

/// Writes an archive of `count` locations with four events each: one message to the right
/// neighbour of a ring, received in the right order. The files of the locations come from a
/// template, not from the library, so that 100,000 of them take seconds. With
/// `local_definitions` every location has a definition file with two ClockOffset records.
/// Returns the anchor's path. (The library itself takes minutes to read 100,000 locations.)
std::filesystem::path write_many_locations(const std::filesystem::path& directory,
                                           std::uint32_t count, bool local_definitions);

}  // namespace entrain::test
