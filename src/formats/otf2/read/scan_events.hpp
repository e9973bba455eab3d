// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/progress.hpp>

#include "formats/otf2/format/block_reader.hpp"
#include "formats/otf2/read/event_file.hpp"
#include "formats/otf2/read/scanner.hpp"

namespace entrain::otf2 {

/// Reads one event file into a skeleton (events, span, flushes, anomalies). A missing or truncated
/// file is an anomaly. `progress`, which may be null, counts bytes and may cancel. Errors:
/// ErrorKind::input for a damaged file, ErrorKind::interrupted.
Result<trace::LocationSkeleton> scan_events(const EventFile& file, Progress* progress);

/// Some chunks of an event file, and the result of scanning them.
struct ScannedPart {
  ChunkRange range;
  Result<void> verdict;
  ScanPart part;
};

/// Scans the chunks of `scanned.range`. Parts may be scanned in any order and at the same time. An
/// error is kept in `scanned.verdict`: it may come from not knowing what lies before the part, so
/// join_parts() decides whether it counts.
void scan_part(const EventFile& file, Progress* progress, ScannedPart& scanned);

/// The skeleton of a file, the same as of scan_events(), from its parts in order. Errors as above.
Result<trace::LocationSkeleton> join_parts(const EventFile& file, Progress* progress,
                                           std::span<ScannedPart> parts);

}  // namespace entrain::otf2
