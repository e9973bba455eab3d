// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "carriers/inner_edges.hpp"

namespace entrain::carriers {

/// The correction of a clock's times by which it lies in the middle of what its edges allow from
/// time to time: an alignment by edges alone may lie anywhere between them. The identity if edges
/// are too few. `inner`: edges in the times of the alignment. Errors: those of
/// ClockMap::from_knots().
Result<ClockMap> centre(Inner inner);

/// The same for a clock that a constant would do for; the identity unless windows show that it
/// moves.
Result<ClockMap> centre_if_it_moves(Inner inner);

}  // namespace entrain::carriers
