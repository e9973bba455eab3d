// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "constraints/constraint.hpp"

namespace entrain::bounds {

using constraints::ClockConstraint;

/// Parts per billion: limits on clock rates are whole numbers of them, so that all conclusions are
/// exact.
inline constexpr std::int64_t k_ppb = 1'000'000'000;
/// Largest limit on rates that is considered: 10 %.
inline constexpr std::int64_t k_most_rate_ppb = k_ppb / 10;

/// Clock errors in windows of time, and constraints between them.
///
/// The error e_i of clock i is its time (along its base line) minus that of the reference. Every
/// ClockConstraint bounds e_to - e_from at two times; a limit R_i on rates means |e_i(t) - e_i(u)|
/// <= R_i |t - u|. Both ends of a constraint are moved to the middle of the window that holds its
/// `to_time`. This adds R_i times their distance from the middle, rounded up (to 1/256 tick), to
/// the slack, so all conclusions hold if the constraints and limits do. The reference has no error.
struct ConstraintGrid {
  std::uint32_t clocks = 0;
  std::uint32_t reference = 0;
  std::int64_t begin = 0;  ///< begin of the first window, ticks
  std::int64_t width = 1;  ///< width of a window, ticks, >= 1
  std::uint32_t windows = 1;
  std::span<const ClockConstraint> constraints;

  [[nodiscard]] std::uint32_t window_of(std::int64_t time) const;
  [[nodiscard]] std::int64_t middle(std::uint32_t window) const {
    return begin + static_cast<std::int64_t>(window) * width + width / 2;
  }
};

/// Limits on the rates of errors: R_i = wander + extra of clock i.
struct RateLimits {
  std::int64_t wander_ppb = 0;
  /// Bound on the error of the rate of each base line; empty: 0.
  std::vector<std::int64_t> extra_ppb;

  [[nodiscard]] std::int64_t of(std::uint32_t clock) const {
    return wander_ppb + (extra_ppb.empty() ? 0 : extra_ppb[clock]);
  }
};

/// Proven interval of each clock's error at the middle of each window.
struct ErrorIntervals {
  static constexpr std::int64_t k_unbounded = std::numeric_limits<std::int64_t>::max();

  std::uint32_t clocks = 0;
  std::vector<std::int64_t> lower;  ///< window * clocks + clock, ticks; -k_unbounded: no limit
  std::vector<std::int64_t> upper;  ///< likewise; k_unbounded: no limit

  struct Interval {
    std::int64_t lower = -k_unbounded, upper = k_unbounded;
    [[nodiscard]] bool bounded() const { return lower != -k_unbounded && upper != k_unbounded; }
  };
  [[nodiscard]] Interval of(std::uint32_t clock, std::uint32_t window) const {
    const std::size_t at = std::size_t{window} * clocks + clock;
    return {lower[at], upper[at]};
  }
};

/// Contradicting constraints: a negative cycle of slacks over clocks and times.
struct Contradiction {
  std::vector<std::uint32_t> clocks;  ///< clocks of the cycle, increasing
  std::int64_t begin = 0, end = 0;    ///< middles of the first and last window, ticks
  /// Least limit on wander without this contradiction, ppb; empty: every limit contradicts.
  std::optional<std::int64_t> needed_ppb;
};

/// Graph of difference constraints: a node per clock and window, and one for the reference.
///
/// Shortest paths from the reference give the upper ends of the intervals, paths to it the lower
/// ends. Example: clock 0 is the reference, one window lasts from 0 to 100, clock 1 may change its
/// error by 1 % of the time, mu is 2.
///  * A message leaves clock 0 at 40 and arrives when clock 1 shows 60: e_1 - e_0 <= 18 at 60.
///    Moved by 10 ticks to the middle of the window this is e_1 <= 18.1.
///  * A message leaves clock 1 when it shows 30 and arrives when clock 0 shows 45: e_0 - e_1 <= 13.
///    Moved by 20 ticks: e_1 >= -13.2.
/// In whole ticks the proved interval of e_1 at time 50 is [-14, 19].
///
/// Deterministic. Memory: O(constraints + clocks * windows). Time is usually similar, but labels
/// can fall many times, so steps are counted. Not thread safe.
class DifferenceConstraints {
 public:
  /// Ignores constraints of more than 2^46 ticks. `problem.constraints` need not outlive this.
  explicit DifferenceConstraints(const ConstraintGrid& problem);

  /// The problem without its constraints.
  [[nodiscard]] const ConstraintGrid& grid() const { return grid_; }

  /// True if all calls together took more steps than allowed: results since then are meaningless. A
  /// step is an edge that is relaxed or marked for it.
  [[nodiscard]] bool is_exhausted() const { return steps_ > most_steps_; }
  [[nodiscard]] std::uint64_t most_steps() const { return most_steps_; }

  /// Returns a contradiction under these limits; empty if there is none.
  [[nodiscard]] std::optional<Contradiction> contradiction(const RateLimits& limits) const;

  /// Least limit for all clocks without a contradiction, at most about a sixteenth too large. A
  /// contradiction if k_most_rate_ppb does not suffice.
  struct LeastRate {
    std::int64_t rate_ppb = 0;
    std::optional<Contradiction> contradiction;
  };
  [[nodiscard]] LeastRate least_rate() const;

  /// Returns the tightest intervals (shortest paths from and to the reference). There must be no
  /// contradiction.
  [[nodiscard]] ErrorIntervals intervals(const RateLimits& limits) const;

 private:
  struct Edge {
    std::uint32_t from = 0, to = 0;  ///< clocks
    std::int64_t slack = 0;          ///< ticks
    /// Distances of its ends from the middle of the window, ticks; 0 for the reference.
    std::int64_t from_distance = 0, to_distance = 0;
  };
  class Paths;

  ConstraintGrid grid_;                    ///< problem without constraints
  std::vector<std::uint32_t> first_edge_;  ///< offset in `edges_` per window, and the end
  std::vector<Edge> edges_;
  std::uint64_t most_steps_ = 0;
  mutable std::uint64_t steps_ = 0;
};

/// distance * rate, in ticks, rounded up.
[[nodiscard]] std::int64_t spread(std::int64_t distance, std::int64_t rate_ppb);

}  // namespace entrain::bounds
