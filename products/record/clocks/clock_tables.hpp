// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "record/clocks/clock_points.hpp"

namespace entrain::record {

/// All samples as comma-separated values, one line per exchange; the head names the units.
std::string samples_as_csv(const std::vector<ProcessRecord>& processes,
                           const std::vector<std::vector<ClockPoint>>& points);

/// The clock records of all processes as comma-separated values.
std::string offsets_as_csv(const std::vector<std::vector<ClockPoint>>& points);

/// Returns a line on the clock of each process: where it was read, from when to when, and the first
/// process that is known to read the same one.
std::string processes_as_csv(const std::vector<ProcessRecord>& processes);

/// The sets of processes that are known to read one clock, without those that are alone: "0-3 4-7".
std::string shared_clocks_as_text(const std::vector<ProcessRecord>& processes);

/// The shortest delays between child and parent as comma-separated values, one line per pair of
/// hosts.
std::string delays_as_csv(const std::vector<ProcessRecord>& processes,
                          const std::vector<std::vector<ClockPoint>>& points);

}  // namespace entrain::record
