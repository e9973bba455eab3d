// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "causal/edge_bounds.hpp"

namespace entrain::causal {

/// Aligns clocks that nobody measured by straight lines, from what edges say (docs/method.md,
/// section 8). `clocks` is evaluated before and after; its components are the groups that came
/// together. Returns what is to be told. Errors: ErrorKind::interrupted. Collective.
Result<std::string> align_by_edges(EdgeBounds& clocks);

}  // namespace entrain::causal
