// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <filesystem>

namespace entrain::test {

struct SmallTraceOptions {
  unsigned rounds = 20;            ///< of a ring message, a non-blocking pair and an Allreduce
  unsigned filler_pairs = 15'000;  ///< Enter/Leave pairs on location 0: more than one chunk of them
  bool clock_offsets = true;       ///< records of the clock sessions
  unsigned sessions = 2;           ///< at equal distances, the last one at the end; at least 2
};

/// Four MPI processes with skewed clocks, so that messages and collectives violate the clock
/// condition; location 0 has two event chunks. Returns the anchor's path.
std::filesystem::path write_small_trace(const std::filesystem::path& directory,
                                        const SmallTraceOptions& options = {});

}  // namespace entrain::test
