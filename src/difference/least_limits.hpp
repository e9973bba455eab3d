// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "difference/solve.hpp"

/// The least limits on the rates of clocks under which a system has a solution.
///
/// Each clock i has a mean rate m_i over its life, which is not known but lies in a range, and its
/// rate leaves m_i by the wander W at most. With the means as further unknowns this is a linear
/// program: around every cycle of constraints, lengths that follow from m and W add up to 0 or
/// more. There are too many cycles to list them. So the program begins without any; its solution
/// names means and limits, and negative cycles of the system under these are the rows that it lacks
/// (J. Kelley: *The Cutting-Plane Method for Solving Convex Programs*, 1960). When no cycle is
/// left, the limit is the least of all.
namespace entrain::difference {

/// Limits that are enough, and what they leave.
struct LeastLimits {
  std::int64_t ppb = 0;             ///< the least limit, rounded up; see is_least
  std::vector<std::int64_t> means;  ///< mean rates that it leaves possible, one per clock, ppb
  Values solution;                  ///< a solution under these, with u of the reference 0
  /// The last cycle of constraints that asked for more; without steps: none did.
  Certificate shown{};
  bool is_least = true;  ///< false: the search ended early, and smaller limits may be enough
};

/// What a cycle of constraints demands of limits: length + sum of m_i ticks_i + W along >= 0.
struct Cycle {
  std::vector<std::pair<std::uint32_t, std::int64_t>> ticks;  ///< clocks, how far it goes forward
  Exact length = 0, along = 0;
};

/// The least wander of all clocks. `means`: one range per clock. `near`: means from which the
/// search begins, one per clock; where several means are possible, those found are near. Clocks
/// whose mean rates count have a ClockLimits::mean in the system; it and the limits on rates are
/// set to those found, and a ppb more for the rounding of means. The certificate of a failure shows
/// why no wander suffices; one without a certificate: the search took too long. `known`: cycles of
/// this system or of one with fewer constraints; those found are added. Null: none.
[[nodiscard]] Solved<LeastLimits> find_least_wander(System& system,
                                                    std::span<const RateRange> means,
                                                    std::span<const std::int64_t> near,
                                                    Effort& effort,
                                                    std::vector<Cycle>* known = nullptr);

/// The least number by which all ranges of mean rates have to grow at both ends, but for those of
/// one rate, if clocks wander by no more than `wander_ppb`. The rest is as above.
[[nodiscard]] Solved<LeastLimits> find_least_widening(
    System& system, std::span<const RateRange> means, std::int64_t wander_ppb,
    std::span<const std::int64_t> near, Effort& effort, std::vector<Cycle>* known = nullptr);

}  // namespace entrain::difference
