// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "trace/trace.hpp"

namespace entrain::test {

/// A program in lockstep: in each round, every process of a ring sends a message to the next one
/// and receives one from the last one. All messages are alike, and all clocks are right.
struct LockstepPlan {
  std::uint32_t processes = 2;  ///< >= 2
  std::uint32_t rounds = 5000;
  /// Another message goes the other way round, and receives are posted before the sends.
  bool both_ways = false;
  std::uint32_t rounds_per_call = 0;  ///< an Allreduce after so many rounds; 0: none
  std::uint64_t seed = 1;
};

/// The complete trace. Times are those of busy machines: a round takes 700 ticks, and delays are
/// steady to 10 % of that, but some are longer by far. The next round begins at once, so that the
/// send of a round lies closer to the receive of the round before than to its own, and as steadily.
trace::Trace lockstep(const LockstepPlan& plan);

}  // namespace entrain::test
