// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>

namespace entrain::test {

/// Location id of rank `rank` in write_many_locations: sparse, as with threads.
constexpr std::uint64_t many_location_id(std::uint32_t rank) { return std::uint64_t{rank} * 3; }

/// Writes an archive of `count` locations with four events each: one message to the right
/// neighbour of a ring, received in the right order. The files of the locations come from a
/// template, not from the library, so that 100,000 of them take seconds. With
/// `local_definitions` every location has a definition file with two ClockOffset records.
/// Returns the anchor's path.
std::filesystem::path write_many_locations(const std::filesystem::path& directory,
                                           std::uint32_t count, bool local_definitions);

}  // namespace entrain::test
