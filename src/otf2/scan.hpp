// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "otf2/definitions.hpp"

namespace entrain::otf2 {

/// Reads one event file into `skeleton` (events, span, flushes, anomalies). `local` translates its
/// ids. A missing or truncated file is an anomaly, a damaged one an error.
Result<void> scan_events(const std::filesystem::path& path, std::uint64_t chunk_size,
                         const LocalDefinitions& local, const References& references,
                         trace::LocationSkeleton& skeleton);

/// Position in Definitions::regions of the innermost region that is open at the first event with
/// stamp `time` (the one that this event enters, if it is an Enter), or k_none.
std::uint32_t find_region(const std::filesystem::path& path, std::uint64_t chunk_size,
                          const LocalDefinitions& local, const References& references,
                          std::uint64_t time);

}  // namespace entrain::otf2
