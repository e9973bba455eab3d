// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "trace/definitions.hpp"

namespace entrain::clocks {

/// Name of the recorder's file with the shortest ways between nodes, beside the anchor file.
inline constexpr const char* k_clock_delays = "clock_delays.csv";

/// mu per latency class out of the recorder's file in `folder`: a quarter of the shortest round
/// trip of any clock session between processes of one node, and of different nodes; 0 inside a
/// process, and for a class without sessions. In ticks, rounded down, at most k_largest_mu.
///
/// A guess, with the reserve of estimate_round_trip_mu(): a round trip is measured with one clock,
/// but how it is shared out between the two ways depends on what the clocks are apart, which is
/// known to half of that round trip only. So what is certain of the shorter way alone is that it
/// takes no less than 0, and the one-way columns of the file, which lean on the interpolated
/// clocks, are not used.
///
/// Errors: ErrorKind::input if there is no such file; for a file that is no such table, with the
/// line; and for one of another archive, which is one that names a node that the definitions lack.
Result<MuTicks> read_delay_mu(const std::filesystem::path& folder,
                              const trace::Definitions& definitions);

}  // namespace entrain::clocks
