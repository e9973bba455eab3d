// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <map>
#include <vector>

#include <entrain/error.hpp>

#include "base/ids.hpp"
#include "clocks/sessions.hpp"
#include "trace/trace.hpp"

namespace entrain::clocks {

/// Name of the recorder's file with all exchanges, beside the anchor file.
inline constexpr const char* k_clock_samples = "clock_samples.csv";

/// The exchanges of one location: per session in the order of its ClockOffset records.
using LocationSamples = std::vector<std::vector<Sample>>;

/// Reads the exchanges of some locations from the recorder's file in `folder`. Empty if there is no
/// such file.
///
/// The file names processes, not locations. A process gives the exchanges of a location if each of
/// the location's records is one of its exchanges, each of a later session than the one before. So
/// threads and processes that share a clock find it, and a file of another archive has no effect.
/// Locations without such a process are left out. Memory: O(exchanges found + those of a process).
/// Errors: ErrorKind::input for a file that is no such table, with the line.
Result<std::map<LocationIndex, LocationSamples>> read_clock_samples(
    const std::filesystem::path& folder, const trace::Trace& trace,
    const std::vector<LocationIndex>& locations);

}  // namespace entrain::clocks
