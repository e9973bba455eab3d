// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "record/base/process_record.hpp"

namespace entrain::record {

/// A ClockOffset record: at local time `local` the master's clock shows `local + offset`. All times
/// are ticks of 1 ns. The master is rank 0.
struct ClockPoint {
  std::uint32_t session = 0;
  std::uint64_t local = 0;
  std::int64_t offset = 0;
  std::uint64_t half_width = 0;  ///< the true offset is at most this far from `offset`
};

/// Marks the samples with the longest round trips as not kept: `share` (0 to 1) of all, rounded
/// down.
void drop_slowest(std::vector<ClockSample>& samples, double share);

/// The clock records of all processes, from their samples against their parents.
///
/// Each session gives one record, from its exchange with the shortest round trip: the parent
/// answered within half of the round trip of the middle, however the two messages share the round
/// trip (Cristian 1989). The parent's records turn its answer into the master's time, linearly
/// between sessions. Half-widths add up from the master down: to its own half, a process adds that
/// of its parent's line at the answer, and the coarser granularity of the two clocks. ClockSample
/// has an example.
///
/// A process that measured nothing, or whose parent did not, has no records. Those of the master
/// are exact.
std::vector<std::vector<ClockPoint>> clock_points(const std::vector<ProcessRecord>& processes);

/// Per process the first one that is known to read the same clock: its own number, unless processes
/// of a host, or all, were found to share one. What only the user says is not known.
std::vector<std::uint32_t> shared_clocks(const std::vector<ProcessRecord>& processes);

/// The master's time when the clock with these records showed `local`: linear between records, and
/// beyond the outermost ones too. Without records, `local`; with one, its offset holds everywhere.
std::uint64_t master_time(const std::vector<ClockPoint>& points, std::uint64_t local);

/// The largest error of master_time there, ticks, if the clock kept its rate from one record to the
/// next: the line may be off by the half-width at each of its two records.
std::uint64_t half_width_at(const std::vector<ClockPoint>& points, std::uint64_t local);

}  // namespace entrain::record
