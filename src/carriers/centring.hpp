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

/// The drift of a clock whose edges with its carrier all go one way, as launches do: the line
/// through the closest edges of windows, so that it meets all edges. The identity unless these are
/// on a line that only a drift explains: work that waits longer and longer does not do so as
/// evenly. Errors: those of ClockMap::from_knots().
Result<ClockMap> drift_of_one_sided(const Inner& inner);

}  // namespace entrain::carriers
