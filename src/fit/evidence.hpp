// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fit/problem.hpp"

/// The part of a fit that the data support: two-sided constraints, the least latency, no common
/// mode, and hold-out.
namespace entrain::fit {

struct TwoSidedOptions {
  /// Largest slack of a constraint that counts, ticks.
  double most_slack = std::numeric_limits<double>::infinity();
  const ClockErrors* errors = nullptr;  ///< known errors; null: 0
  unsigned threads = 1;                 ///< 0: all cores; the result does not depend on it
};

/// Returns the two-sided constraints: those whose clocks bound each other in both directions,
/// directly or around a cycle, within two neighbouring windows of `width` ticks, counted from
/// `begin`. One-sided traffic limits the move of a clock on one side only. So does a way back whose
/// slack, given the errors, exceeds the limit. Keeps the order; O(constraints).
[[nodiscard]] std::vector<ClockConstraint> two_sided_constraints(
    std::vector<ClockConstraint> constraints, std::size_t clocks, std::int64_t begin,
    std::int64_t width, const TwoSidedOptions& by = {});

/// Returns an estimate of the least latency, ticks, at least 1: a quarter of the shortest round
/// trip of any pair of clocks in any window of `width` ticks from `begin` on. A round trip is the
/// sum of the slacks of both directions, which no offset changes; sums below 4 ticks do not count.
/// Known `errors` are subtracted (null: 0).
[[nodiscard]] double latency_scale(std::span<const ClockConstraint> constraints, std::int64_t begin,
                                   std::int64_t width, const ClockErrors* errors);

/// Subtracts the common mode: the mean error of each group of clocks that constraints connect, or
/// of those of the group with sessions, if it has some. No constraint determines this mean: with a
/// large amplitude, a fit may place it anywhere between sessions. The presync, which goes through
/// the sessions, is better there.
[[nodiscard]] ClockErrors without_common_mode(
    const ClockErrors& errors, std::size_t clocks, std::span<const ClockConstraint> constraints,
    std::span<const constraints::SessionConstraint> sessions);

/// Sums of squared violations of constraints that a fit did not see, ticks^2.
struct HeldOut {
  double unbent = 0;  ///< violation before the bend
  double bent = 0;    ///< violation after bends fitted to the other constraints

  /// True if bends remove more than half of the squared violation of unseen constraints. Without
  /// sessions or ends of collectives (`measured` false) any decrease suffices: straight lines then
  /// come from messages alone and are no better founded than bends.
  [[nodiscard]] bool supports_bends(bool measured) const {
    return (measured ? 2 : 1) * bent < unbent;
  }
};

/// Hold-out: fits the constraints of every other window of `width` ticks with the amplitude and
/// knots of `fit`, and measures the violation of the rest; then the other way round. If such a fit
/// does not converge, a stiffer one is used; if none does, violations count as unchanged. A sample
/// stands for many clocks if nearly all pairs share constraints (ClockSample).
[[nodiscard]] HeldOut hold_out(const CausalProblem& problem, const CausalFit& fit,
                               std::int64_t width);

}  // namespace entrain::fit
