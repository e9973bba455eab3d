// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "record/journal.hpp"

namespace entrain::record {

/// A ClockOffset record: at local time `local` the master's clock shows `local + offset`.
struct ClockPoint {
  std::uint32_t session = 0;
  std::uint64_t local = 0;
  std::int64_t offset = 0;       ///< ticks
  std::uint64_t half_width = 0;  ///< the offset is certain to within this, ticks
};

/// Marks the `share` (0 to 1, rounded down) of samples with the longest round trips as not kept.
void drop_slowest(std::vector<ClockSample>& samples, double share);

/// The clock records of all processes, out of their samples against their parents: what a parent's
/// clock showed is turned into the master's time with the parent's own records, linearly between
/// sessions. Per session the exchange of the shortest round trip counts: its interval, middle +-
/// half of the round trip, holds whatever the asymmetry of the ways (Cristian 1989). Half-widths
/// add up along the way from the master; a parent's is that of its line at the time of the
/// exchange. A process that measured nothing has no points.
std::vector<std::vector<ClockPoint>> clock_points(const std::vector<ProcessRecord>& processes);

/// The master's time when the clock with these records showed `local`.
std::uint64_t master_time(const std::vector<ClockPoint>& points, std::uint64_t local);

/// How far master_time may be wrong there if the clock's rate did not change from one record to the
/// next, ticks: what both ends of the line through them allow.
std::uint64_t half_width_at(const std::vector<ClockPoint>& points, std::uint64_t local);

/// All samples as text with commas, units in the head line.
std::string samples_as_csv(const std::vector<ProcessRecord>& processes,
                           const std::vector<std::vector<ClockPoint>>& points);

/// Shortest ways between child and parent as text with commas, one line per pair of nodes.
std::string delays_as_csv(const std::vector<ProcessRecord>& processes,
                          const std::vector<std::vector<ClockPoint>>& points);

}  // namespace entrain::record
