// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include <entrain/error.hpp>
#include <entrain/options.hpp>

#include "clc/control.hpp"
#include "clc/forward.hpp"
#include "trace/share.hpp"

namespace entrain::clc {

/// How gamma is found.
struct GammaChoice {
  std::optional<Decimal9> gamma;        ///< fixed, the same for all; empty: control loop
  std::optional<std::int64_t> epsilon;  ///< Outlook::epsilon
};

/// Forward amortization, with the control loop for gamma unless it is fixed (docs/method.md,
/// section 4). Where C violates nothing, C is the result, and no pass is made.
///
/// Collective; bit-identical for every team and any number of threads. Errors, the same at every
/// member: ErrorKind::input if a time leaves the range of +-2^61 ticks, or if there are more cycles
/// than can be searched; ErrorKind::interrupted when the user wants to stop.
Result<ForwardResult> amortize_forward(const trace::Share& share, const ForwardProblem& problem,
                                       const GammaChoice& choice);

}  // namespace entrain::clc
