// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "constraints/constrained_clocks.hpp"

namespace entrain::lines {

struct Alignment {
  std::string sentence;  ///< sentence of the report
  bool by_ends = false;  ///< lines go through the ends of collectives
};

/// Aligns clocks without sessions by straight lines, from the constraints of edges (docs/method.md,
/// section 8). `clocks` must be evaluated before the call, and is evaluated after it; its
/// components are the groups of clocks that could be aligned with each other. Errors:
/// ErrorKind::interrupted. Collective.
Result<Alignment> align_unmeasured(constraints::ConstrainedClocks& clocks);

}  // namespace entrain::lines
