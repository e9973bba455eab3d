// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "constraints/constraint.hpp"

namespace entrain::lines {

/// A straight line that aligns a clock: aligned(t) = t + offset + rate * (t - base). Ticks.
///
/// Example: base 1000, offset 50, rate 0.001. Time 1000 becomes 1050, and 2000 becomes 2051.
struct ClockLine {
  std::int64_t base = 0;
  std::int64_t offset = 0;
  double rate = 0;              ///< relative
  std::uint32_t component = 0;  ///< clocks of one component are aligned with each other

  /// aligned(t) - t, clamped to 2^61 ticks on either side of `offset`: lines through contradicting
  /// edges may lead further than offsets can be added; such offsets are refused later.
  [[nodiscard]] std::int64_t shift(std::int64_t t) const {
    constexpr double k_largest = 0x1p61;
    const double drift = rate * static_cast<double>(t - base);
    return offset + std::llround(std::clamp(drift, -k_largest, k_largest));
  }
};

/// Finds lines that align clocks without sessions, from the constraints of their edges.
///
/// For every pair of clocks with edges in both directions, the constraints form a corridor for the
/// offset of one clock against the other; the middle line of the corridor relates them (convex hull
/// method of Duda et al., 1987). A spanning tree of the tightest corridors gives every clock its
/// line relative to the first clock of its component. One-sided traffic only moves a whole
/// component later, until nothing arrives before it was sent. If such moves form a cycle, the
/// components stay. Deterministic.
///
/// `groups`: empty, or one per clock: first clock of the group that it is already aligned with.
/// Clocks of a group get one line.
[[nodiscard]] std::vector<ClockLine> find_clock_lines(
    std::size_t clocks, std::span<const constraints::ClockConstraint> constraints,
    std::span<const std::uint32_t> groups = {});

}  // namespace entrain::lines
