// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <entrain/progress.hpp>

#include "causal/clock_errors.hpp"
#include "causal/constraint.hpp"

namespace entrain::causal {

/// The problem that a fit solves; all spans must outlive the call. Every clock takes part, however
/// little is known of it.
struct CausalProblem {
  std::size_t clocks = 0;
  std::int64_t begin = 0, end = 0;  ///< of all events, presynchronised; begin < end
  std::size_t knots = 0;            ///< per clock, at least 3
  double sigma = 1;                 ///< softness of a constraint, ticks
  double latency = 0;               ///< least latency beyond that in the slacks, ticks
  std::span<const ClockConstraint> constraints;
  std::span<const SessionConstraint> sessions;
  /// A fit may cost more than the best by about that share, and its evidence says nothing then; 0:
  /// no more.
  double tolerance = 0;
  unsigned threads = 1;                ///< 0: all cores; fits do not depend on it
  const Progress* progress = nullptr;  ///< fits do not converge once it is cancelled; may be null
};

/// The fit for one smoothness.
struct CausalFit {
  ClockErrors errors;
  double amplitude = 0;        ///< A: how far clocks were expected to bend over the run, ticks
  double cost = 0;             ///< half of the function that fit_causal() minimises
  double log_evidence = 0;     ///< of A, up to a constant of the problem
  std::size_t active = 0;      ///< constraints that hold the clocks
  double worst_violation = 0;  ///< of a constraint, ticks
  int steps = 0;               ///< of Newton's method
  bool converged = false;
  bool is_approximate =
      false;        ///< near the minimum, far from meeting the constraints: see choose_fit()
  double gain = 0;  ///< of evidence over half the knots, where choose_fit() tried these; 0: unknown
};

/// Minimises over e, straight between knots,
///
///     lambda sum_i integral e_i''^2 dt + sum_sessions (e / half_width)^2
///       + sum_constraints max(0, e_to - e_from - slack)^2 / sigma^2,   lambda = T^3 / (12 A^2)
///
/// by semi-smooth Newton steps with a line search, from `start` (ClockErrors of the same knots, or
/// empty: 0), and by an interior-point method where these are many. Exactly 0 if no constraint is
/// violated at 0. Where that does not settle, takes an amplitude less by 10^(n/2) that does, n up
/// to 4, and says so. Deterministic. (docs/method.md, section 8)
[[nodiscard]] CausalFit fit_causal(const CausalProblem& problem, double amplitude,
                                   const ClockErrors& start = {});

/// The fit with the amplitude and the number of knots that the data make most likely (MacKay,
/// Bayesian interpolation, 1992). Tries amplitudes as long as the evidence grows, from that of the
/// worst violation on, and doubles the knots, up to `most_knots`, as long as it grows. `before`: a
/// fit to much the same constraints, or one without errors; the search then begins there, and tries
/// half the knots too. Does not read `problem.knots`. Where some of the clocks tell amplitude and
/// knots, `problem.tolerance` is that of the fit to all clocks.
[[nodiscard]] CausalFit choose_fit(CausalProblem problem, std::size_t most_knots,
                                   const CausalFit& before = {});

}  // namespace entrain::causal
