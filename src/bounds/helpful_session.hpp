// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <entrain/report.hpp>

#include "bounds/solve_errors.hpp"
#include "constraints/constraint.hpp"

/// Effect of further constraints on proven intervals, and the session that would help most.
namespace entrain::bounds {

using constraints::ClockConstraint;

/// A solved problem. Holds references, which must outlive it.
struct SolvedProblem {
  const ErrorProblem& problem;
  const Narrowed& solution;
  std::span<const std::int64_t> times;  ///< increasing; where bounds are looked at
};

/// Returns limits and intervals with further constraints; empty if these contradict the problem, or
/// take too many steps.
[[nodiscard]] std::optional<Narrowed> with_more(const SolvedProblem& solved,
                                                std::span<const ClockConstraint> more);

/// Estimates the half-width of sessions without one, per clock, ticks; 0: unknown. It is half of
/// the narrowest proven interval of the clock, since the shortest exchange of a session is about as
/// short as the shortest messages both ways, plus the largest distance of the lines between
/// sessions from the proven intervals. `sessions`, sorted by clock and time, go from the reference
/// to the measured clock and have no half-width in their slack.
[[nodiscard]] std::vector<std::int64_t> probable_half_widths(
    const SolvedProblem& solved, std::span<const ClockConstraint> sessions);

/// Returns the effect of a session of all clocks at the time of the widest interval. Its half-width
/// is assumed to be half of the narrowest interval of each clock. Empty if it would not at least
/// halve the widest interval, or if nothing is bounded.
[[nodiscard]] std::optional<ClockBounds::HelpfulSession> helpful_session(
    const SolvedProblem& solved);

}  // namespace entrain::bounds
