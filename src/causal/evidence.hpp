// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "causal/fit.hpp"

/// What of a causal fit the data support, and what only its softness made up.
namespace entrain::causal {

/// The bounds whose clocks hold each other both ways, directly or around a circle of clocks, by
/// bounds of one window of `width` ticks and the next, from `begin` on. Where traffic goes one way
/// only, a bound says how far a clock must move at least and nothing about how far at most. In the
/// order given; O(bounds).
[[nodiscard]] std::vector<CausalBound> held_both_ways(std::span<const CausalBound> bounds,
                                                      std::size_t clocks, std::int64_t begin,
                                                      std::int64_t width);

/// The errors without what all clocks that bounds connect have in common. No bound tells it, and
/// between the sessions of soft clocks it may go anywhere: presync, which goes through the
/// sessions, knows better.
[[nodiscard]] ClockErrors without_common(const ClockErrors& errors, std::size_t clocks,
                                         std::span<const CausalBound> bounds);

/// Violations, as sums of squares in ticks^2, of bounds that a fit did not see.
struct HeldOut {
  double unbent = 0;  ///< by clocks as they were
  double bent = 0;    ///< by clocks bent along a fit to the other bounds

  /// True if the bends foretell more of the violations than they leave or make. Straight lines
  /// along which messages alone aligned clocks, `measured` false, are no better founded than bends:
  /// then it is enough that fewer are left.
  [[nodiscard]] bool supports_bends(bool measured) const {
    return (measured ? 2 : 1) * bent < unbent;
  }
};

/// Fits to the bounds of every other window of `width` ticks with the amplitude and knots of `fit`,
/// and looks at those in between; then the other way round. Where such a fit does not settle, a
/// stiffer one that does is taken; with none, nothing is foretold.
[[nodiscard]] HeldOut hold_out(const CausalProblem& problem, const CausalFit& fit,
                               std::int64_t width);

}  // namespace entrain::causal
