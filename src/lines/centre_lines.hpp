// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "constraints/constraint.hpp"
#include "lines/clock_lines.hpp"

namespace entrain::lines {

/// Finds the lines in the centre of all lines that meet the constraints, for all clocks jointly:
/// those of the least sum of (1 / L)^3 over the pairs of clocks, where L is the least slack of a
/// pair (a smooth minimum). So both directions of a pair get the same least latency, and narrow
/// pairs, which determine more, count more. Constraints that do not go around a cycle of clocks do
/// not count. Empty if no lines meet all constraints.
///
/// Where constraints leave rates open, they follow `rates`, one per clock: the relative rate of its
/// times against its stamps. `typical`: usual difference of the rates of stamps.
///
/// The first clock of those that bound each other keeps its time. Deterministic. O(constraints log
/// constraints + pairs steps).
[[nodiscard]] std::optional<std::vector<ClockLine>> find_centre_lines(
    std::size_t clocks, std::span<const constraints::ClockConstraint> constraints,
    std::span<const double> rates, double typical);

}  // namespace entrain::lines
