// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>

#include <entrain/clock_map.hpp>
#include <entrain/progress.hpp>

#include "otf2/walk.hpp"

namespace entrain::otf2 {

/// Copies an event or snapshot file with every time mapped; all other bytes stay, whatever the
/// records are, also behind the end mark. `framing` is events or snapshots. Errors:
/// ErrorKind::input (damaged, or a time that would become negative), ErrorKind::output,
/// ErrorKind::interrupted when `progress` says so.
Result<void> retime_file(const std::filesystem::path& from, const std::filesystem::path& to,
                         std::uint64_t chunk_size, Framing framing, const ClockMap& map,
                         const Progress* progress);

/// The same for an event file on several threads (0: all cores), each of which takes the next
/// `part_chunks` chunks when it has done the ones before.
Result<void> retime_in_parts(const std::filesystem::path& from, const std::filesystem::path& to,
                             std::uint64_t chunk_size, const ClockMap& map,
                             const Progress* progress, unsigned threads,
                             std::uint64_t part_chunks);

}  // namespace entrain::otf2
