// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "carriers/inner_edges.hpp"

namespace entrain::carriers {

/// A time at which a clock was set.
struct SetClock {
  std::uint64_t before = 0, after = 0;  ///< last time of the clock before, first one after
  std::int64_t size = 0;                ///< what is added more to its times afterwards
};

/// Finds where the limits that edges put on a clock beside its carrier change faster than rates of
/// crystals do. In order of time.
std::vector<SetClock> find_set_clocks(std::vector<Tie> ties);

}  // namespace entrain::carriers
