// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/progress.hpp>

#include "otf2/read/archive.hpp"

namespace entrain::otf2 {

/// What a rewritten archive turned out to be.
struct Rewritten {
  /// Every stamp is what the location's map makes of the original one, no ClockOffset record
  /// changes what a reader sees of it, and the other definitions but ClockProperties are the same:
  /// the original under the maps tells all about the archive.
  bool as_mapped = true;
  bool has_clock_offsets = false;  ///< there are ClockOffset records, of whatever effect
};

/// Compares `written`, which was written from `original`, with it: definitions, and the event files
/// of `locations` byte by byte but for times. `maps` has one map per location of the archive. Large
/// files are shared among `threads` threads (0: all cores), in parts of about `part_bytes`.
/// `progress`, which may be null, may interrupt. Errors: ErrorKind::output where events differ in
/// more than times, with file and place; ErrorKind::input for damage; ErrorKind::interrupted.
Result<Rewritten> compare_rewritten(const Archive& original, const Archive& written,
                                    std::span<const LocationIndex> locations,
                                    std::span<const ClockMap> maps, unsigned threads,
                                    Progress* progress,
                                    std::uint64_t part_bytes = std::uint64_t{64} << 20);

}  // namespace entrain::otf2
