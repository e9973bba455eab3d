// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

namespace entrain::sim {

/// Times of a synthetic program, ticks.
struct Timing {
  std::uint64_t latency = 1000;       ///< least time from a send to its receive
  double tail = 300;                  ///< mean of what comes on top
  std::uint64_t back_latency = 1000;  ///< latency of messages to a process of a lower number
  double back_tail = 300;             ///< tail of these messages
  double iteration = 1e6;             ///< mean time computed per iteration
  double imbalance = 0.2;             ///< variation of that, 0 to 1
};

}  // namespace entrain::sim
