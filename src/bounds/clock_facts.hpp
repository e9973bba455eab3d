// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/clock_map.hpp>

#include "constraints/base_line.hpp"
#include "trace/share.hpp"

namespace entrain::bounds {

/// Facts about a location with events, known to every process.
struct ClockFacts {
  LocationIndex location = k_none;
  std::uint32_t records = 0;          ///< number of clock offsets
  bool has_interval = false;          ///< a clock offset has a half-width
  bool is_zero = false;               ///< all records are 0 and exact: the sessions' master
  std::uint64_t first = 0, last = 0;  ///< stamps of its first and last event
  std::uint64_t granule = 0;          ///< common divisor of all stamps
  constraints::BaseLine line;         ///< chord of the map
};

/// Returns the facts of all locations with events, in order of location. `maps`: one per location;
/// only those of this process are read. Collective; the same at every process.
[[nodiscard]] std::vector<ClockFacts> gather_clock_facts(const trace::Share& share,
                                                         std::span<const ClockMap> maps);

/// A clock session: the clock of the sessions showed `local + offset`, give or take `half_width`
/// (ticks, rounded up; 0: unknown).
struct MeasuredOffset {
  LocationIndex location = k_none;
  std::uint64_t local = 0;
  std::int64_t offset = 0;
  std::int64_t half_width = 0;

  friend auto operator<=>(const MeasuredOffset&, const MeasuredOffset&) = default;
};

/// Returns the measured offsets of all locations, in a fixed order. Collective; the same at every
/// process.
[[nodiscard]] std::vector<MeasuredOffset> gather_measured_offsets(const trace::Share& share);

/// Describes clocks by their first locations: "MPI Rank 1, MPI Rank 3, MPI Rank 4 and 2 more".
/// `clock_of`: one per location. A clock without location is that of the sessions.
[[nodiscard]] std::string names_of_clocks(const trace::Definitions& definitions,
                                          std::span<const ClockFacts> facts,
                                          std::span<const std::uint32_t> clock_of,
                                          std::span<const std::uint32_t> clocks);

}  // namespace entrain::bounds
