// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/progress.hpp>

#include "formats/otf2/read/archive.hpp"

namespace entrain::otf2 {

/// An archive that was written from another one.
struct RewrittenArchive {
  const Archive& original;
  const Archive& written;
  std::span<const LocationIndex> locations;  ///< locations whose files are compared
  std::span<const ClockMap> maps;            ///< one per location of the archive
};

/// The result of comparing the two.
struct Rewritten {
  /// True if the original archive together with the maps says all about the written one: every
  /// stamp has the value that the location's map gives, and none is below the one before it; no
  /// ClockOffset record changes the time that a reader sees or keeps it from reading; and all
  /// definitions but ClockProperties are the same.
  bool as_mapped = true;
  bool has_clock_offsets = false;  ///< there are ClockOffset records, whatever their effect
};

/// Compares definitions, and the event files byte by byte except for times, on `threads` threads
/// (0: all cores). `progress`, which may be null, counts bytes and may cancel. Errors:
/// ErrorKind::output where events differ in more than times, with file and place; ErrorKind::input
/// for damage; ErrorKind::interrupted.
Result<Rewritten> compare_rewritten(const RewrittenArchive& archive, unsigned threads,
                                    Progress* progress);

}  // namespace entrain::otf2
