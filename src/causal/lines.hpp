// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "causal/fit.hpp"

namespace entrain::causal {

/// A first alignment of a clock: aligned(t) = t + offset + rate * (t - base). Ticks.
struct ClockLine {
  std::int64_t base = 0;
  std::int64_t offset = 0;
  double rate = 0;              ///< relative
  std::uint32_t component = 0;  ///< clocks of one component are aligned with each other
};

/// Aligns clocks of which nothing was measured by what their edges say.
///
/// For every pair with edges both ways, the bounds form a corridor for the offset of one clock
/// against the other; its widest straight middle line is their relation (convex hull method of
/// Duda et al., 1987). A spanning tree of the tightest corridors gives every clock its line
/// relative to the first clock of its component. One-way traffic aligns nothing: it only moves
/// whole components, by what they violate, unless it goes around in circles. Deterministic.
///
/// `group_of`, one per clock if not empty: the first clock of those that are aligned already. They
/// count as one, and get one line.
[[nodiscard]] std::vector<ClockLine> align_by_lines(std::size_t clocks,
                                                    std::span<const CausalBound> bounds,
                                                    std::span<const std::uint32_t> group_of = {});

}  // namespace entrain::causal
