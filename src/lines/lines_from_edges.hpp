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

/// Bends clocks so that the ends of collectives coincide, which edges do not demand: nobody leaves
/// before all have come, and all leave soon (docs/method.md, section 8). `clocks` must be evaluated
/// before the call, and is evaluated after it. False, with all maps as before, if ends do not
/// wander, do not predict each other, or violations grow by more than ends come together. Errors:
/// ErrorKind::interrupted. Collective.
Result<bool> bend_to_ends(constraints::ConstrainedClocks& clocks);

}  // namespace entrain::lines
