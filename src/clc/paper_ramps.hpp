// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "base/cancel.hpp"
#include "clc/backward.hpp"
#include "clc/curve.hpp"

namespace entrain::clc {

/// Backward amortization as figure 1 of Becker, Rabenseifner and Wolf (2007) draws it, the
/// alternative to build_ramps() (docs/method.md, section 5).
///
/// A jump by J ticks is built up over J / max_slope local ticks before it. Offsets count from the
/// curve that earlier jumps have left. The ramp is a straight line from 0, or, if limits lie under
/// it, the lower convex hull of its two ends and the limits. Jumps are treated one by one, from
/// left to right; their ramps add up, and later ones find the limits lowered by what earlier ones
/// used. The part of a ramp before the location's first event is cut off.
///
/// Raises `displacement` (one per node, preset to d), rounded down for each ramp, and returns the
/// bends. Time grows with the nodes under each ramp; when `cancel` is asked for, the result has no
/// meaning.
///
/// Example with max_slope 0.01: a location begins at stamp 0 and jumps by 1,000 ticks at 100,000.
/// Without limits the line goes from (0; 0) to (100,000; 1000). With a limit of 50 at 40,500 and of
/// 300 at 70,500 it has bends at these two points; build_ramps() has (65,500; 0), (70,500; 300).
Curve curve_of_paper_ramps(const DisplacedLocation& input, std::span<std::int64_t> displacement,
                           const Cancel& cancel);

}  // namespace entrain::clc
