// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/team.hpp"
#include "causal/fit.hpp"

/// Tells which part of a causal fit the data support, and which part is an artefact of its
/// softness.
namespace entrain::causal {

/// What counts as a way back.
struct TwoSidedOptions {
  double most_slack = std::numeric_limits<double>::infinity();  ///< of a constraint, ticks
  const ClockErrors* errors = nullptr;  ///< as far as they are known; null: 0
  unsigned threads = 1;                 ///< 0: all cores; what is held does not depend on it
};

/// The constraints whose clocks limit each other in both directions, directly or around a cycle of
/// clocks, within one window of `width` ticks and the next one, counted from `begin`. Traffic in
/// one direction says how far a clock must move at least, but not how far at most; nor does a
/// constraint that leaves too much slack, given the errors, on the way back. In the order given;
/// O(constraints).
[[nodiscard]] std::vector<ClockConstraint> two_sided_constraints(
    std::vector<ClockConstraint> constraints, std::size_t clocks, std::int64_t begin,
    std::int64_t width, const TwoSidedOptions& by = {});

/// The errors minus their mean over each group of clocks that constraints connect. No constraint
/// determines that mean, and between the sessions of soft clocks a fit may put it anywhere; presync
/// goes through the sessions and is better there.
[[nodiscard]] ClockErrors without_common_mode(const ClockErrors& errors, std::size_t clocks,
                                              std::span<const ClockConstraint> constraints);

/// Violations, as sums of squares in ticks^2, of constraints that a fit did not see.
struct HeldOut {
  double unbent = 0;  ///< by the clocks before the bend
  double bent = 0;    ///< by clocks bent along a fit to the other constraints

  /// True if bends remove more than half of the violation of constraints that they did not see.
  /// Without sessions or ends of collectives (`measured` false) messages alone aligned the clocks,
  /// and straight lines are no better founded than bends: then it is enough that the violation is
  /// smaller.
  [[nodiscard]] bool supports_bends(bool measured) const {
    return (measured ? 2 : 1) * bent < unbent;
  }
};

/// Fits to the constraints of every other window of `width` ticks with the amplitude and knots of
/// `fit`, and measures the violation of those in between; then the other way round. If such a fit
/// does not converge, takes a stiffer one that does; if there is none, nothing is predicted. Of
/// many clocks, some are judged by (ClockSample).
[[nodiscard]] HeldOut hold_out(const CausalProblem& problem, const CausalFit& fit,
                               std::int64_t width);

/// The same by a team whose members all have the problem and the fit: the first two members take a
/// half each. The same result at every member, for any number of them. Collective.
[[nodiscard]] HeldOut hold_out(Team& team, const CausalProblem& problem, const CausalFit& fit,
                               std::int64_t width);

}  // namespace entrain::causal
