// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "constraints/constraint.hpp"

namespace entrain::lines {

/// Tightest slack from one clock to another at any time, ticks.
using TightestSlacks = std::map<std::pair<std::uint32_t, std::uint32_t>, std::int64_t>;

/// Adds constraints between clocks that were moved by these offsets, converted to unmoved clocks.
void keep_tightest(TightestSlacks& tightest,
                   std::span<const constraints::ClockConstraint> constraints,
                   std::span<const std::int64_t> moved);

/// Returns one offset per clock, to add to its times, such that nothing is violated: the mean of
/// moving clocks later only and moving them earlier only. Empty if no offsets suffice, or if 2^27
/// steps do not find them. Deterministic; mostly about O(pairs).
///
/// Example: the slack from clock 0 to 1 is -10 and back it is 30: clock 1 has to move by 10 to 30.
/// Moving later adds 10 to clock 1, moving earlier takes 10 from clock 0; the result is -5 and 5.
[[nodiscard]] std::optional<std::vector<std::int64_t>> find_offsets(std::size_t clocks,
                                                                    const TightestSlacks& tightest);

}  // namespace entrain::lines
