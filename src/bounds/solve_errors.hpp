// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <tl/expected.hpp>

#include "bounds/error_bounds.hpp"
#include "difference/least_limits.hpp"
#include "difference/system.hpp"

/// Errors of clocks from difference constraints (difference::System), under limits on their rates.
///
/// The error e_i of clock i is its time along its base line minus that of the reference, so u of
/// the system is -e.
namespace entrain::bounds {

/// First and last event of a clock, ticks along its base line; none if first > last.
struct Lifetime {
  std::int64_t first = 0, last = -1;
};

struct ErrorProblem {
  std::uint32_t clocks = 0, reference = 0;
  std::int64_t begin = 0;  ///< time that the stamps of edges count from
  std::vector<difference::Edge> edges;
  std::vector<Lifetime> lives;  ///< one per clock
  /// The user gave the limit on mean rates, so that errors change by these over lives. A limit that
  /// is only usual for the kind of clock may be wrong at the ends of a short run.
  bool is_mean_given = false;
};

/// Constraints that cannot all hold.
struct Contradiction {
  bool is_certain = false;            ///< false: the search took too many steps
  std::vector<std::uint32_t> clocks;  ///< clocks of the cycle, increasing
  std::int64_t begin = 0, end = 0;    ///< first and last time, ticks
};

template <class T>
using Proved = tl::expected<T, Contradiction>;

/// The tightest bounds.
[[nodiscard]] Proved<ErrorBounds> find_error_bounds(const ErrorProblem& problem,
                                                    const RateLimits& limits);

/// The least limit that all constraints leave possible, or one that suffices
/// (difference::LeastLimits).
struct LeastLimit {
  std::int64_t ppb = 0;
  bool is_least = true;  ///< false: the search ended early, and smaller limits may suffice
  std::vector<std::int64_t> means;  ///< mean rates of errors over lives that are possible, ppb
  ErrorBounds errors;   ///< errors that meet all constraints: lower and upper bound are equal
  Contradiction shown;  ///< what shows that less is impossible; without clocks: nothing does
};
/// The least wander; with `wander_ppb`, by which clocks wander at most, the least number by which
/// all ranges of mean rates have to grow. `means`: ranges of the mean rates of errors, one per
/// clock. `near`: means from which the search begins. `known`: see difference::find_least_limits().
[[nodiscard]] Proved<LeastLimit> find_least_limit(const ErrorProblem& problem,
                                                  std::span<const RateRange> means,
                                                  std::optional<std::int64_t> wander_ppb,
                                                  std::span<const std::int64_t> near,
                                                  std::vector<difference::Cycle>* known = nullptr);

struct Narrowed {
  RateLimits limits;
  ErrorBounds errors;
};

/// Derives limits on the rates of errors from a limit on wander (`start.limits.wander_ppb`): the
/// largest difference of a clock's rate from its mean over its life.
///
/// Bounds limit that mean: from the first event to the last one, and between any two times,
/// where the rate may differ from the mean by the wander. Smaller limits give narrower bounds and
/// vice versa, so both are iterated. `start.limits.mean` must be wide enough; `start.errors` are
/// bounds that hold under these limits, or empty.
///
/// `add_violated` adds to the problem what the least or the greatest errors violate, and returns
/// false if that is nothing: then bounds are those of all constraints. Deterministic.
[[nodiscard]] Proved<Narrowed> narrow_limits(
    const ErrorProblem& problem, Narrowed start,
    const std::function<bool(const ErrorBounds&)>& add_violated);

}  // namespace entrain::bounds
