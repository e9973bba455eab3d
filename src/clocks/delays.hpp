// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "trace/definitions.hpp"
#include "trace/pair_mu.hpp"

namespace entrain::clocks {

/// Name of the recorder's file with the shortest delays between machines, beside the anchor file.
inline constexpr const char* k_clock_delays = "clock_delays.csv";

/// Minimum latencies, as the recorder's clock sessions measured them.
struct DelayMu {
  MuTicks by_class{};      ///< the smallest one of all pairs of a latency class
  trace::PairMu of_pairs;  ///< mu of the machines that measured against each other
};

/// Reads mu from the recorder's file in `folder`: a quarter of the shortest round trip of any clock
/// session, between processes of one machine and of different machines, per pair of machines and
/// per latency class. 0 inside a process, and for a class without sessions. In ticks, rounded down,
/// at most k_largest_mu.
///
/// This is a guess with a reserve, as that of match::round_trip_mu(). One clock measures a round
/// trip, but its division into two ways depends on the offset between two clocks, which is known to
/// half of that round trip only. It is certain only that the shorter way takes at least 0. The
/// one-way columns of the file rely on interpolated clocks, so they are not used.
///
/// Errors: ErrorKind::input if there is no such file; for a file that is no such table, with the
/// line; and for a file of another archive, which names a machine that the definitions lack, unless
/// it lies `apart`: it is known to be of the same run (use_measurements), and other tracers may
/// have other names for machines.
Result<DelayMu> read_delay_mu(const std::filesystem::path& folder,
                              const trace::Definitions& definitions, bool apart = false);

}  // namespace entrain::clocks
