// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>
#include <entrain/distort.hpp>

#include "trace/trace.hpp"

namespace entrain::sim {

/// Wrong clocks for a trace, in the form in which an archive is written (otf2::WritePlan).
struct Distortion {
  /// Per location: stored stamp -> stamp of the distorted trace.
  std::vector<ClockMap> maps;
  /// Per location: the records that a tracer would have stored in the distorted trace; empty for
  /// a location whose unit has no events.
  std::vector<std::vector<trace::ClockOffset>> clock_offsets;
  /// Smallest and largest event time of the distorted trace, as stored or as a reader returns it
  /// after applying the records; first_time >= 0.
  std::int64_t first_time = 0;
  std::int64_t last_time = 0;
  std::int64_t shift = 0;  ///< shift of all clocks, ticks, so that no time is negative: no error
  DistortReport report;    ///< all but the paths
};

/// Gives every unit (location, process or node) of `trace` a clock of its own.
///
/// True time is the stored stamp mapped by `presync`, i.e. the time that a reader returns for the
/// original trace (ClockOffset records applied); `presync` holds one increasing map per location.
/// The clock of unit u is sampled(draw_clock(seed, u)) of true time, or walking_clock(seed, u), and
/// a location's map is composed(presync, clock): the distorted archive is exact to a tick or two
/// with respect to the formulas, and *exactly* the original under a known increasing map. Events
/// that shared a stamp still do; neighbouring ticks may become one but keep their order. If a clock
/// would show a negative time, all clocks are moved by the same amount, which compare does not
/// count as an error.
///
/// Example: 1 tick is 1 ns, two processes, offset_s 50e-6, drift_ppm 10, no wander, no noise.
/// Process 0 draws offset +20,000 ticks and drift -4e-6, process 1 offset -31,000 and drift +7e-6;
/// the trace begins at true tick 0. A message is sent by process 0 at 1,000,000,000 (after 1 s) and
/// received by process 1 at 1,000,005,000. The distorted stamps are
///
///     send     1,000,000,000 + 20,000 - 4,000 = 1,000,016,000
///     receive  1,000,005,000 - 31,000 + 7,000 =   999,981,000
///
/// so the receive stands 35,000 ticks before its send. If process 1 was measured at that true
/// second, its record holds time 999,976,000 and offset 1,000,016,000 - 999,976,000 = +40,000. (The
/// shift that keeps times above 0 is left out here.)
///
/// The unit of the first location is the master: its clock is as wrong as the others', and is by
/// definition the time base. Every unit is measured twice, as Score-P does: at the first end of
/// MPI_Init and at the last begin of MPI_Finalize among its locations, or at its first and last
/// event if there is none; with more sessions also between these, at equal distances. A record
/// holds the unit's own clock at that instant as time and the master's minus its own clock as
/// offset, plus noise uniform in +-offset_noise_s, and the bound of the noise as standard
/// deviation; records of the master are 0. All locations of a unit get the same records.
///
/// report.largest_residual_s covers the time between a unit's first and last measurement.
///
/// Deterministic: the same for any number of threads. Errors: ErrorKind::usage for options that are
/// negative, not numbers, or too large (rates above 10 % together, offsets above 10^9 s);
/// ErrorKind::input for times below 0 or above 2^61 ticks.
Result<Distortion> distort(const trace::Trace& trace, std::span<const ClockMap> presync,
                           const DistortOptions& options);

}  // namespace entrain::sim
