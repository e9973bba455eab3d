// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "causal/fit.hpp"

namespace entrain::causal {

/// Limits on clock rates are whole billionths, so that what follows from them is exact.
inline constexpr std::int64_t k_ppb = 1'000'000'000;
/// The largest limit that is looked at: a tenth.
inline constexpr std::int64_t k_most_rate_ppb = k_ppb / 10;

/// Clock errors on a grid of times, of which differences are bounded.
///
/// The error e_i of clock i is its time (along its base line) minus that of the reference. Every
/// CausalBound limits e_to - e_from at two times; a limit R_i on rates says |e_i(t) - e_i(u)| <=
/// R_i |t - u|. Both ends of a bound are moved to the middle of the window that holds its
/// `to_time`, which costs R_i times their distance from it, rounded up (to 1/256 tick); so all that
/// follows is true of the clocks if the bounds and limits are. The reference has no error ever.
struct GuaranteeProblem {
  std::uint32_t clocks = 0;
  std::uint32_t reference = 0;
  std::int64_t begin = 0;  ///< of the first window, ticks
  std::int64_t width = 1;  ///< of a window, ticks, >= 1
  std::uint32_t windows = 1;
  std::span<const CausalBound> bounds;

  [[nodiscard]] std::uint32_t window_of(std::int64_t time) const;
  [[nodiscard]] std::int64_t middle(std::uint32_t window) const {
    return begin + static_cast<std::int64_t>(window) * width + width / 2;
  }
};

/// Limits on the rates of errors: R_i = wander + extra of clock i.
struct RateLimits {
  std::int64_t wander_ppb = 0;
  /// Per clock, for what is wrong with its base line; empty: 0.
  std::vector<std::int64_t> extra_ppb;

  [[nodiscard]] std::int64_t of(std::uint32_t clock) const {
    return wander_ppb + (extra_ppb.empty() ? 0 : extra_ppb[clock]);
  }
};

/// In which the errors lie in the middle of every window.
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

/// Bounds that cannot hold together: around a circle of clocks and times they add up to less than
/// 0.
struct Contradiction {
  std::vector<std::uint32_t> clocks;  ///< that take part, increasing
  std::int64_t begin = 0, end = 0;    ///< middles of its first and last window, ticks
  /// Limit on wander above which this circle is none, ppb; empty: whatever the rates.
  std::optional<std::int64_t> needed_ppb;
};

/// The graph of difference constraints: a node per clock and window, one for the reference.
/// Deterministic. Memory: O(bounds + clocks * windows).
class Guarantee {
 public:
  /// Bounds of more than 2^46 ticks say nothing. `problem.bounds` need not outlive this.
  explicit Guarantee(const GuaranteeProblem& problem);

  /// The problem without its bounds.
  [[nodiscard]] const GuaranteeProblem& grid() const { return grid_; }

  /// A contradiction under limits on rates; empty if there is none.
  [[nodiscard]] std::optional<Contradiction> contradiction(const RateLimits& limits) const;

  /// A limit for all clocks without contradiction that is at most about a sixteenth above the
  /// smallest one; what contradicts if k_most_rate_ppb does not suffice.
  struct LeastRate {
    std::int64_t rate_ppb = 0;
    std::optional<Contradiction> contradiction;
  };
  [[nodiscard]] LeastRate least_rate() const;

  /// The tightest intervals that follow (shortest paths from and to the reference); there must be
  /// no contradiction.
  [[nodiscard]] ErrorIntervals intervals(const RateLimits& limits) const;

 private:
  struct Edge {
    std::uint32_t from = 0, to = 0;  ///< clocks
    std::int64_t slack = 0;          ///< ticks
    /// Of its ends from the middle of the window, ticks; of the reference 0.
    std::int64_t from_distance = 0, to_distance = 0;
  };
  class Paths;

  GuaranteeProblem grid_;                  ///< without bounds
  std::vector<std::uint32_t> first_edge_;  ///< per window, and the end
  std::vector<Edge> edges_;
};

/// distance * rate, in ticks, rounded up.
[[nodiscard]] std::int64_t spread(std::int64_t distance, std::int64_t rate_ppb);

}  // namespace entrain::causal
