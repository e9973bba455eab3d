// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <entrain/progress.hpp>

#include "constraints/clock_errors.hpp"
#include "constraints/constraint.hpp"

namespace entrain::fit {

using constraints::ClockConstraint;
using constraints::ClockErrors;
using constraints::SessionConstraint;

/// Input of a fit. All spans must outlive the call. Every clock takes part, even one that no
/// constraint concerns.
struct CausalProblem {
  std::size_t clocks = 0;
  std::int64_t begin = 0, end = 0;  ///< first and last presynchronised time, ticks; begin < end
  std::size_t knots = 0;            ///< number per clock, at least 3
  double sigma = 1;                 ///< softness of a constraint, ticks
  double latency = 0;               ///< latency subtracted from all slacks, ticks
  std::span<const ClockConstraint> constraints;
  std::span<const SessionConstraint> sessions;
  /// A fit may end at a cost that exceeds the minimum by this share; its evidence is then
  /// meaningless. 0: it ends at the minimum.
  double tolerance = 0;
  unsigned threads = 1;                ///< 0: all cores; fits do not depend on it
  const Progress* progress = nullptr;  ///< fits do not converge once it is cancelled; may be null
};

/// Figures of a fit with one amplitude.
struct FitFigures {
  double amplitude = 0;     ///< A: expected bend of a clock over the run, ticks
  double cost = 0;          ///< half of the function that fit_causal() (fit_solver.hpp) minimises
  double log_evidence = 0;  ///< evidence of A, up to a constant of the problem
  std::size_t active = 0;   ///< number of active constraints
  double worst_violation = 0;  ///< largest violation of a constraint, ticks
  int steps = 0;               ///< Newton and interior-point steps
  bool converged = false;
};

struct CausalFit : FitFigures {
  ClockErrors errors;
};

}  // namespace entrain::fit
