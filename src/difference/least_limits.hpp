// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "difference/solve.hpp"

/// The least limits on the rates of clocks under which a system has a solution.
///
/// Clock i has a mean rate m_i over its life, unknown within a range. Its momentary rate differs
/// from m_i by the wander W at most. With the m_i as unknowns, the least limit is the optimum of a
/// linear program. It has a row per cycle of constraints: the lengths of the arcs, linear in m and
/// W, add up to 0 or more. There are too many cycles to list. So the program starts without rows,
/// and negative cycles of the system under its solution are added (cutting planes; J. Kelley: *The
/// Cutting-Plane Method for Solving Convex Programs*, 1960). When none is left, the limit is the
/// least.
namespace entrain::difference {

/// Limits under which a system is feasible, and a solution.
struct LeastLimits {
  std::int64_t ppb = 0;             ///< the least limit, rounded up; see is_least
  std::vector<std::int64_t> means;  ///< mean rates feasible under it, one per clock, ppb
  Values solution;                  ///< a solution with these means, and u of the reference 0
  /// The negative cycle that was added last: a smaller limit fails; without steps: none was.
  Certificate shown{};
  bool is_least = true;  ///< false: the search ended early, and smaller limits may suffice
};

/// A row of the linear program: length + sum of m_i ticks_i + W along >= 0.
struct Cycle {
  std::vector<std::pair<std::uint32_t, std::int64_t>> ticks;  ///< clock i, and ticks_i
  Exact length = 0, along = 0;
};

/// Finds the least wander of all clocks; with `wander_ppb`, by which clocks wander at most, the
/// least widening of all ranges of mean rates, ppb at both ends. Ranges of a single rate stay.
///
/// `means`: one range per clock. `near`: one mean per clock; of several feasible means the search
/// prefers the nearest to these. Clocks whose mean rates are limited need a ClockLimits::mean in
/// the system. The limits of `system` become those found, a ppb wider for the rounding of means; if
/// not `is_least`, others that `solution` meets. A widening is always the least: a search that
/// takes too long fails. The certificate of a failure shows why no limit suffices; a failure
/// without one: the search took too long. `known`: cycles of this system, or of one with fewer
/// constraints; those found are added. Null: none.
[[nodiscard]] Solved<LeastLimits> find_least_limits(
    System& system, std::span<const RateRange> means, std::optional<std::int64_t> wander_ppb,
    std::span<const std::int64_t> near, Effort& effort, std::vector<Cycle>* known = nullptr);

}  // namespace entrain::difference
