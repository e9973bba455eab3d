// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include <entrain/progress.hpp>

#include "otf2/format/records.hpp"
#include "otf2/read/definitions.hpp"
#include "otf2/read/scanner.hpp"

namespace entrain::otf2 {

/// An event file with what its ids mean.
struct EventFile {
  std::filesystem::path path;
  std::uint64_t chunk_size = 0;
  const LocalDefinitions& local;
  const References& references;
};

/// Reads one event file into a skeleton (events, span, flushes, anomalies). A missing or truncated
/// file is an anomaly. Errors: ErrorKind::input for a damaged one, ErrorKind::interrupted when
/// `progress` says so; it may be null.
Result<trace::LocationSkeleton> scan_events(const EventFile& file, Progress* progress);

/// Some chunks of an event file with what their scan yielded.
struct ScannedPart {
  ChunkRange range;
  Result<void> verdict;
  ScanPart part;
};

/// Reads the chunks of `scanned.range`; parts may be read in any order and at the same time. What
/// is wrong with them is kept: join_parts() tells whether it matters.
void scan_part(const EventFile& file, Progress* progress, ScannedPart& scanned);

/// The skeleton of a file, the same as of scan_events(), from its parts in order. Errors as above.
Result<trace::LocationSkeleton> join_parts(const EventFile& file, Progress* progress,
                                           std::span<ScannedPart> parts);

/// Position in Definitions::regions of the innermost region that is open at the first event with
/// stamp `time` (the one that this event enters, if it is an Enter), or k_none.
std::uint32_t find_region(const EventFile& file, std::uint64_t time);

}  // namespace entrain::otf2
