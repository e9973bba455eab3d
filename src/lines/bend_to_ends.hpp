// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/error.hpp>

#include "constraints/constrained_clocks.hpp"

namespace entrain::lines {

/// Collectives whose ends alignments use: about 2,048 and half a million ends at most.
constraints::CallEnds sample_ends(const constraints::ConstrainedClocks& clocks);

/// Misfit of the present maps: spread of ends plus the root mean square of violations, ticks.
/// Collective.
double misfit(constraints::ConstrainedClocks& clocks);

/// Bends clocks so that the ends of collectives coincide, which edges do not demand: nobody leaves
/// before all have come, and all leave soon (docs/method.md, section 8). `clocks` must be evaluated
/// before the call, and is evaluated after it. False, with all maps as before, if ends do not
/// wander, do not predict each other, or violations grow by more than ends come together. Errors:
/// ErrorKind::interrupted. Collective.
Result<bool> bend_to_ends(constraints::ConstrainedClocks& clocks);

}  // namespace entrain::lines
