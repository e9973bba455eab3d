// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "causal/constrained_clocks.hpp"

namespace entrain::causal {

/// Aligns clocks without sessions by straight lines, from the constraints of edges (docs/method.md,
/// section 8). `clocks` must be evaluated before the call, and is evaluated after it; its
/// components are the groups of clocks that could be aligned with each other. Returns a sentence
/// for the report. Errors: ErrorKind::interrupted. Collective.
Result<std::string> align_unmeasured(ConstrainedClocks& clocks);

}  // namespace entrain::causal
