// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "record/archive/merged.hpp"

namespace entrain::record {

/// Writes the measurements of the clocks beside the archive in `directory`: clock_samples.csv and
/// clock_delays.csv if there were exchanges, and for virtual nodes virtual_clocks.txt beside the
/// archive with true times. False, with errno, if that fails.
bool write_clock_files(const std::string& directory, const Merged& merged);

}  // namespace entrain::record
