// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "clc/forward.hpp"

namespace entrain::clc {

/// The forward pass that was taken, and how it was found.
struct ForwardResult {
  ForwardTimes pass;
  Decimal9 gamma;                        ///< the smallest one of all locations
  std::vector<Decimal9> gamma_of;        ///< each location's gamma; empty: all have `gamma`
  std::optional<std::int64_t> epsilon;   ///< ForwardTimes::error that was aimed at, if any
  std::vector<AmortizationPass> passes;  ///< all that were compared, in their order; one is chosen
};

/// Knowledge of the passes before the first one is made.
struct Outlook {
  /// No pass has a smaller error, ticks: some receive has to move by so much, whatever its sender
  /// does. Does not hold where nodes are tied.
  std::int64_t least_error = 0;
  /// Passes wait more than they work, as in a team: those that may be needed are made together.
  bool side_by_side = false;
  /// Largest displacement that needs no smaller gamma, ticks; empty: 1.1 times that of the smallest
  /// gamma.
  std::optional<std::int64_t> epsilon = {};
};

/// A single pass with a gamma that the user chose. Errors: those of Forward.
Result<ForwardResult> fixed_gamma(const Forward& forward, Decimal9 gamma);

/// Adds to the marked locations those whose displacements push them in a pass (mark_upstream()).
using Upstream = std::function<void(const ForwardTimes& pass, std::vector<bool>& marked)>;

/// Chooses the gamma of every location: the largest one of the control loop (docs/method.md,
/// section 4) with which errors are at most epsilon. A location with gamma too near 1 may run away
/// under clocks whose drift changes sign. Every pass lowers the gammas of those that are above
/// epsilon, and of those that push them there, and keeps the others.
///
/// Without Outlook::epsilon it is 1.1 times the error of the smallest gamma, and passes whose
/// result cannot matter are not made: the mildest gamma is taken at once if nothing jumps, or if
/// its error is at most 1.1 times the least one possible. If no mixture does, the smallest one is
/// taken everywhere. `cycles` are those that `forward` finds. `least_gamma` is
/// ForwardProblem::least_gamma of `forward`, all 0. Errors: those of Forward.
///
/// Example: the errors of A and B with 0.99999 are 900 and 90 ticks, with 0.9 they are 100 and 80,
/// and one receive has to move by 80. 900 is more than 88, so 0.9 is next: epsilon is 110. B keeps
/// 0.99999. With 0.9999, A has 300, and with 0.999 it has 109. This pass is taken.
Result<ForwardResult> control_gamma(const Forward& forward, const Outlook& outlook,
                                    const Cycles& cycles, const Upstream& upstream,
                                    std::span<Decimal9> least_gamma);

}  // namespace entrain::clc
