// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include <entrain/error.hpp>
#include <entrain/options.hpp>

#include "base/team.hpp"
#include "trace/partition.hpp"
#include "trace/trace.hpp"

namespace entrain::clocks {

/// Names of the recorder's tables of processes and of their clock records.
inline constexpr const char* k_clock_processes = "clock_processes.csv";
inline constexpr const char* k_clock_offsets = "clock_offsets.csv";

/// Replaces the clock records of the locations of this process by those in the folder: measurements
/// of the same run that the recorder made beside another tracer. With ClockRecords::add the records
/// of the trace stay, and get half-widths with which they agree with the measurements. The records
/// of a location are those of the MPI rank of its process. What the folder proves of shared clocks
/// becomes the property k_property_clocks of the trace in memory. A trace that was corrected
/// already is refused.
///
/// Checks that both speak of the same processes and timers: as many processes, the same ticks per
/// second (to 0.1 % for a counter, whose rate tracers measure), and for each process records of
/// events in the time in which its clock was measured. Collective; all processes get the same
/// errors: ErrorKind::input for what does not fit, and for a damaged table, with the line.
Result<void> use_measurements(const std::filesystem::path& folder, ClockRecords records,
                              Team& processes, const trace::Partition& partition,
                              trace::Trace& trace);

}  // namespace entrain::clocks
