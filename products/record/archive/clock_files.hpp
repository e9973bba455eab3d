// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "record/archive/merged.hpp"

namespace entrain::record {

/// Writes the measurements of the clocks beside the archive in `directory`: clock_samples.csv and
/// clock_delays.csv, clock_offsets.csv and clock_processes.csv if there were exchanges, and for
/// virtual nodes virtual_clocks.txt beside the archive with true times. False, with errno, if that
/// fails.
bool write_clock_files(const std::string& directory, const Merged& merged);

/// The same for a program whose events another tracer has recorded; `processes` in the order of
/// their ranks. Writes all tables, even without exchanges: clocks may be known to be one.
bool write_clocks_only(const std::string& directory, const std::vector<ProcessRecord>& processes);

}  // namespace entrain::record
