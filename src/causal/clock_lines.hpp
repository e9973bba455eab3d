// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "causal/constraint.hpp"

namespace entrain::causal {

/// Timers are that close to each other, relative: at most, and typically (clocks::RatePrior).
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

/// What is known of the clocks before.
struct KnownClocks {
  /// Empty or one per clock: the first of the clocks that it is aligned with already. Clocks of a
  /// group count as one, and get one line.
  std::span<const std::uint32_t> group_of{};
  /// Empty, or one per clock that was aligned already: the rate at which its times leave its
  /// stamps, relative. Then lines only settle what the constraints leave open: where they allow
  /// rates that differ by twice the typical one or more, the centre of all lines that fit is taken,
  /// of which those of smaller rates between the stamps count more. Other corridors are left alone.
  std::span<const double> rates{};
  /// For that: the largest rate that the stamps of two clocks are expected to be apart, relative.
  double usual_rate = k_usual_rate;
  /// And the rate that they are typically apart; some much more. Above 0, at most `usual_rate`.
  double typical_rate = k_typical_rate;
};

/// Finds lines that align clocks without sessions, from the constraints of their edges.
///
/// For every pair of clocks with edges in both directions, the constraints form a corridor for the
/// offset of one clock against the other; the middle line of the corridor relates them (convex hull
/// method of Duda et al., 1987). A spanning tree of the tightest corridors gives every clock its
/// line relative to the first clock of its component. Traffic in one direction aligns nothing: it
/// only moves a whole component later, until nothing arrives before it was sent. If such moves
/// would go around in a cycle, the components stay. Deterministic.
[[nodiscard]] std::vector<ClockLine> find_clock_lines(std::size_t clocks,
                                                      std::span<const ClockConstraint> constraints,
                                                      const KnownClocks& known = {});

}  // namespace entrain::causal
