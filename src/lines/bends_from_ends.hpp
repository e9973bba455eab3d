// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include <entrain/error.hpp>

#include "constraints/constraint.hpp"
#include "lines/end_lines.hpp"

namespace entrain::lines {

/// Finds the wander of clocks about their lines from simultaneous ends of calls: sets bends, knots
/// per clock with straight lines in between, and the spread with them. Each knot is the median of
/// some ends. The number of knots is the one that best predicts every other call, held out. False,
/// with all as before, unless the prediction is at least a tenth better than by lines. Knots lie so
/// far apart that the noise of ends looks like a rate of 20 ppm at most.
///
/// Linear in the number of ends: some hundred passes if clocks wander, else one. Deterministic.
///
/// Example: two clocks end calls together each second; the second one ends them 0, 10, 20, 10, 0 us
/// late relative to its line. Its knots are (0 s, 0), (2 s, -20 us), (4 s, 0) or close to it, or
/// those of the first one are the opposite.
Result<bool> find_bends(const constraints::CallEnds& calls, SimultaneousEnds& ends,
                        const FitControl& control);

/// Value at a stamp: linear between knots, constant beyond them.
double bend_at(std::span<const SimultaneousEnds::Bend> bends, std::uint64_t stamp);

}  // namespace entrain::lines
