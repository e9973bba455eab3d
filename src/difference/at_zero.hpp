// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "difference/solve.hpp"

namespace entrain::difference {

/// Clocks that show the time of the reference.
struct AtZero {
  std::vector<char> stays;  ///< 1 if u of the clock is 0 at all stamps; one per clock
  bool complete = true;     ///< false: Effort ended; clocks that were not tried do not stay
  bool is_only = true;      ///< false: another set, of up to 16 clocks, has as much weight
};

/// Finds clocks that can be right together: a largest set of clocks whose u is 0 at all of their
/// stamps while all constraints hold. Up to 16 clocks it is the largest set of all; of more clocks
/// each one stays, in their order, that can stay beside those before it.
///
/// `order`: the clocks that may stay, the most trusted ones first. `weights`: by clock; up to 16
/// clocks the set has the largest sum of weights; empty: all weigh the same.
/// The test of a clock is exact:
/// arcs of length 0 between its nodes and the reference are added, and new shortest paths show
/// whether these close a negative cycle (S. Cotton, O. Maler: *Fast and Flexible Difference
/// Constraint Propagation for DPLL(T)*, 2006). Clocks are tried in blocks, which are halved where
/// they cannot stay as a whole. So k clocks that do not stay among n take about k log n searches of
/// what they reach. Deterministic. The certificate of a failure shows that no clocks meet the
/// constraints.
Solved<AtZero> find_most_at_zero(const System& system, std::span<const std::uint32_t> order,
                                 Effort& effort, std::span<const std::uint32_t> weights = {});

}  // namespace entrain::difference
