// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "formats/otf2/read/event_file.hpp"
#include "trace/trace.hpp"

namespace entrain::otf2 {

/// Calls `visit` for every Enter and Leave of an event file, in order. A missing file has none, a
/// truncated one those before its end. `progress`, which may be null, counts bytes and may cancel.
/// Errors: ErrorKind::input for a damaged file, ErrorKind::interrupted.
Result<void> read_regions(const EventFile& file, Progress* progress,
                          const trace::RegionVisitor& visit);

}  // namespace entrain::otf2
