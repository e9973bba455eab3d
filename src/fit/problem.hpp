// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include <entrain/progress.hpp>

#include "constraints/clock_errors.hpp"
#include "constraints/constraint.hpp"

namespace entrain::fit {

using constraints::ClockConstraint;
using constraints::ClockErrors;
using constraints::SessionConstraint;

/// Input of a fit. All spans must outlive the call. Every clock takes part, even one that no
/// constraint concerns.
struct CausalProblem {
  std::size_t clocks = 0;
  std::int64_t begin = 0, end = 0;  ///< first and last presynchronised time, ticks; begin < end
  std::size_t knots = 0;            ///< number per clock, at least 3
  double sigma = 1;                 ///< softness of a constraint, ticks
  double latency = 0;               ///< latency subtracted from all slacks, ticks
  std::span<const ClockConstraint> constraints;
  std::span<const SessionConstraint> sessions;
  /// A fit may end at a cost that exceeds the minimum by this share; its evidence is then
  /// meaningless. 0: it ends at the minimum.
  double tolerance = 0;
  unsigned threads = 1;                ///< 0: all cores; fits do not depend on it
  const Progress* progress = nullptr;  ///< fits do not converge once it is cancelled; may be null
};

/// A fit with one amplitude.
struct CausalFit {
  double amplitude = 0;     ///< A: expected bend of a clock over the run, ticks
  double log_evidence = 0;  ///< evidence of A, up to a constant of the problem
  std::size_t active = 0;   ///< number of active constraints
  bool converged = false;
  ClockErrors errors;
};

/// Linear interpolation between the two knots around a time.
struct KnotPlace {
  std::uint32_t at = 0;  ///< unknown of the first knot
  double share = 0;      ///< 0 at the first knot, 1 at the next; extrapolates beyond the ends
};

/// The knots of a problem, at equal distances from its begin to its end.
class KnotPlaces {
 public:
  explicit KnotPlaces(const CausalProblem& problem)
      : begin_(problem.begin),
        knots_(problem.knots),
        per_tick_(static_cast<double>(knots_ - 1) /
                  static_cast<double>(problem.end - problem.begin)) {}

  [[nodiscard]] KnotPlace operator()(std::uint32_t clock, std::int64_t time) const {
    const double x = ticks_since_begin(time) * per_tick_;
    // Truncation is one instruction; floor is not.
    const auto piece =
        static_cast<std::size_t>(std::clamp(x, 0.0, static_cast<double>(knots_ - 2)));
    return {static_cast<std::uint32_t>(clock * knots_ + piece), x - static_cast<double>(piece)};
  }

 private:
  /// Damaged records may hold any time, so the difference may overflow a signed 64-bit number.
  [[nodiscard]] double ticks_since_begin(std::int64_t time) const {
    const auto from = static_cast<std::uint64_t>(begin_), to = static_cast<std::uint64_t>(time);
    return time >= begin_ ? static_cast<double>(to - from) : -static_cast<double>(from - to);
  }

  std::int64_t begin_;
  std::size_t knots_;
  double per_tick_;
};

}  // namespace entrain::fit
