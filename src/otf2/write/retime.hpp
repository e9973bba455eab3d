// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>

#include <entrain/clock_map.hpp>
#include <entrain/progress.hpp>

#include "otf2/format/walk.hpp"

namespace entrain::otf2 {

/// What the stop time of a BufferFlush does to the segment of the clock map in which a stream
/// stands.
enum class StopTimes {
  move_segment,  ///< as in an OTF2 reader: later events before the stop time are in its segment
  stand_alone,   ///< nothing
};

/// Copies an event or snapshot file with every time mapped; all other bytes stay, whatever the
/// records are, also behind the end mark. `framing` is events or snapshots. Errors:
/// ErrorKind::input (damaged, or a time that would become negative), ErrorKind::output,
/// ErrorKind::interrupted when `progress` says so.
Result<void> retime_file(const std::filesystem::path& from, const std::filesystem::path& to,
                         std::uint64_t chunk_size, Framing framing, const ClockMap& map,
                         Progress* progress, StopTimes stops = StopTimes::move_segment);

/// The same for an event file on several threads (0: all cores), each of which takes the next
/// `part_chunks` chunks when it has done the ones before.
Result<void> retime_in_parts(const std::filesystem::path& from, const std::filesystem::path& to,
                             std::uint64_t chunk_size, const ClockMap& map, Progress* progress,
                             unsigned threads, std::uint64_t part_chunks,
                             StopTimes stops = StopTimes::move_segment);

}  // namespace entrain::otf2
