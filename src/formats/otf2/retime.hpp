// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>

#include <entrain/clock_map.hpp>
#include <entrain/progress.hpp>

#include "formats/otf2/format/walk.hpp"

namespace entrain::otf2 {

/// The effect of a BufferFlush's stop time on the segment of the clock map that is in use.
enum class StopTimes {
  move_segment,  ///< behaves like an OTF2 reader: the stop time's segment holds for all later
                 ///< events, even if their times are earlier than the stop time
  stand_alone,   ///< none: every event is mapped by the segment of its own time
};

/// A file to be copied with other times.
struct Retiming {
  std::filesystem::path from;
  std::filesystem::path to;  ///< must not exist
  std::uint64_t chunk_size = 0;
  const ClockMap& map;  ///< stored stamp -> new stamp; must outlive this
  StopTimes stops = StopTimes::move_segment;
  Progress* progress = nullptr;  ///< may be null; counts bytes, may cancel
};

/// Copies an event or snapshot file with every time mapped. A stamp always has 8 bytes, so a new
/// time takes the place of the old one. All other bytes stay, whatever the records are, also those
/// after the end mark. `framing` is events or snapshots.
///
/// Example: map {(0, +0), (1000, +100)}, i.e. new = old + old / 10. The bytes
///
///     05 E8 03 00 00 00 00 00 00 | 0C 01 07 | 05 F2 03 00 00 00 00 00 00 | 0E 08 01 03 ...
///     stamp 1000                   enter 7    stamp 1010                   mpi_send ...
///
/// become
///
///     05 4C 04 00 00 00 00 00 00 | 0C 01 07 | 05 57 04 00 00 00 00 00 00 | 0E 08 01 03 ...
///     stamp 1100                              stamp 1111
///
/// Errors: ErrorKind::input (damaged, or a time that would become negative), ErrorKind::output,
/// ErrorKind::interrupted.
Result<void> retime_file(const Retiming& retiming, Framing framing);

}  // namespace entrain::otf2
