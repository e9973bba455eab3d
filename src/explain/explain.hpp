// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "difference/solve.hpp"

/// Why no clocks meet the constraints of a run: the explanation that costs least to tell.
namespace entrain::explain {

/// What the parts of an explanation cost to tell, bits (minimum description length: the logarithm
/// of how seldom they are true). Chosen, not measured; tests: explain_test.cpp.
struct Prices {
  /// A clock was set: one gap between two stamps in a million, and 40 bits for by how much. So a
  /// step explains three wrong pairs or more.
  static constexpr double step = 60;
  static constexpr double pair = 20;  ///< two records do not belong together: one pair in a million
  /// Ends that should coincide do not (an instance with a delay below 0): one in 64.
  static constexpr double ends = 6;
  /// Clocks run faster than the limit says, but no faster than `fastest_ppb`.
  static constexpr double rate = 40;
  static constexpr std::int64_t fastest_ppb = 1'000'000;  ///< clocks that nobody disciplines
};

/// A clock was set between two neighbouring stamps: its rate there is not limited.
struct Step {
  std::uint32_t clock = 0;
  std::int64_t before = 0, after = 0;  ///< the stamps
  friend auto operator<=>(const Step&, const Step&) = default;
};

/// Relaxations of constraints that make them feasible. All empty: they are feasible as they are.
///
/// Other kinds (a clock that ticks coarsely, one name for several clocks, ends of calls that are no
/// evidence, records that are no time of the run) are to be relaxations of their own: what of a
/// cycle they break (Explainer::find_candidates), their price, and how they change the system
/// (Explainer::relaxed).
struct Explanation {
  std::vector<Step> steps;               ///< increasing
  std::vector<std::uint32_t> edges;      ///< pairs that are dropped, increasing
  std::vector<std::uint32_t> instances;  ///< instances that are dropped, increasing
  std::optional<std::int64_t> rate_ppb;  ///< limit on all rates that has to be raised to this
  double bits = 0;                       ///< price
};

/// Finds the cheapest relaxations that remove all negative cycles: an implicit hitting set (R.
/// Karp, 2010). Cycles that have no constraint in common are collected; the cheapest set of
/// relaxations that breaks all of them is found, exactly where they are few; what it leaves
/// infeasible shows further cycles, until nothing is left. Where several gaps between stamps
/// explain the cycles equally well, the clock was set in the longest one.
///
/// Instances with a delay below 0 are weak evidence. Clocks must have limits on rates only, and no
/// sessions. Deterministic. Empty if the search takes more than `effort`, or a thousand cycles.
///
/// Example: messages both ways tie clock 1 to 0 within 10 ticks. From 1,000 on all of them say that
/// it is 500 ahead of what it was: the cheapest explanation is one step at 1,000.
std::optional<Explanation> explain(const difference::Constraints& constraints,
                                   difference::Effort& effort);

}  // namespace entrain::explain
