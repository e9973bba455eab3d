// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "constraints/constraint.hpp"

namespace entrain::lines {

/// Rates of timers against each other, relative: largest usual one, and typical one
/// (clocks::RatePrior).
inline constexpr double k_usual_rate = 2e-4, k_typical_rate = 3e-5;

/// A straight line that aligns a clock: aligned(t) = t + offset + rate * (t - base). Ticks.
///
/// Example: base 1000, offset 50, rate 0.001. Time 1000 becomes 1050, and 2000 becomes 2051.
struct ClockLine {
  std::int64_t base = 0;
  std::int64_t offset = 0;
  double rate = 0;              ///< relative
  std::uint32_t component = 0;  ///< clocks of one component are aligned with each other
};

struct KnownClocks {
  /// Empty, or one per clock: first clock of the group that it is already aligned with. Clocks of a
  /// group get one line.
  std::span<const std::uint32_t> group_of{};
  /// Empty, or one per aligned clock: rate of its times against its stamps, relative. Lines then
  /// only fill in what the constraints leave open: where a corridor allows rates that differ by at
  /// least twice the typical one, the line is the weighted mean of all lines that fit; rates near
  /// that of the stamps weigh more. Other corridors keep their line.
  std::span<const double> rates{};
  /// Largest usual rate between the stamps of two clocks, relative.
  double usual_rate = k_usual_rate;
  /// Typical rate between them; some differ by much more. Above 0, at most `usual_rate`.
  double typical_rate = k_typical_rate;
};

/// Finds lines that align clocks without sessions, from the constraints of their edges.
///
/// For every pair of clocks with edges in both directions, the constraints form a corridor for the
/// offset of one clock against the other; the middle line of the corridor relates them (convex hull
/// method of Duda et al., 1987). A spanning tree of the tightest corridors gives every clock its
/// line relative to the first clock of its component. One-sided traffic only moves a whole
/// component later, until nothing arrives before it was sent. If such moves form a cycle, the
/// components stay. Deterministic.
[[nodiscard]] std::vector<ClockLine> find_clock_lines(
    std::size_t clocks, std::span<const constraints::ClockConstraint> constraints,
    const KnownClocks& known = {});

}  // namespace entrain::lines
