// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/progress.hpp>

#include "formats/otf2/read/event_file.hpp"

namespace entrain::otf2 {

/// Reads one event file into a skeleton (events, span, flushes, anomalies). A missing or truncated
/// file is an anomaly. `progress`, which may be null, counts bytes and may cancel. Errors:
/// ErrorKind::input for a damaged file, ErrorKind::interrupted.
Result<trace::LocationSkeleton> scan_events(const EventFile& file, Progress* progress);

}  // namespace entrain::otf2
