// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/options.hpp>
#include <entrain/report.hpp>

#include "clc/forward.hpp"

namespace entrain::clc {

/// The forward pass that was taken, and how it was found.
struct ForwardResult {
  ForwardTimes pass;
  Decimal9 gamma;
  std::vector<AmortizationPass> passes;  ///< all that were compared, in their order; one is chosen
};

/// Knowledge of the passes before the first one is made.
struct Outlook {
  /// No pass has a smaller error, ticks: some receive has to move by so much, whatever its sender
  /// does. Does not hold where nodes are tied.
  std::int64_t least_error = 0;
  /// Much is violated, so the mildest gamma is probably not the one: the pass of the smallest gamma
  /// may as well run at the same time.
  bool much_violated = false;
};

/// The gammas of the control loop, from the mildest to the most distorting (docs/method.md,
/// section 4).
std::span<const Decimal9> control_gammas();

/// A single pass with a gamma that the user chose. Errors: those of Forward::run().
Result<ForwardResult> fixed_gamma(Forward& forward, Decimal9 gamma);

/// Chooses gamma: the largest one of control_gammas() whose error is at most 1.1 times that of the
/// smallest one. A pass with gamma too near 1 may run away under clocks whose drift changes sign.
/// Passes whose result cannot matter are not made: the mildest gamma is taken at once if nothing
/// jumps, or if its error is at most 1.1 times the least one possible. `tied` are the cycles that
/// `forward` finds. Errors: those of Forward::run().
///
/// Example: the errors with 0.99999, 0.9999, 0.999, 0.99 and 0.9 are 900, 300, 109, 104 and 100
/// ticks, and one receive has to move by 80. 900 is more than 88, so 0.9 is next, then 0.9999,
/// whose 300 is more than 110, and 0.999, which is taken. The pass with 0.99 is not needed.
Result<ForwardResult> control_gamma(Forward& forward, const Outlook& outlook, const Cycles& cycles);

}  // namespace entrain::clc
