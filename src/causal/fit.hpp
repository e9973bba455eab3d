// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <entrain/progress.hpp>

namespace entrain::causal {

/// What a happened-before edge says of two clocks whose errors are e (reading minus truth):
/// e_to(to_time) - e_from(from_time) <= slack. All in ticks.
struct CausalBound {
  std::uint32_t from = 0, to = 0;           ///< clocks, different ones
  std::int64_t from_time = 0, to_time = 0;  ///< presynchronised times of the two events
  std::int64_t slack = 0;                   ///< to_time - from_time - mu; below 0: violated
};

/// What a clock session says: e(time) = 0, give or take `half_width`. Ticks.
struct SessionBound {
  std::uint32_t clock = 0;
  std::int64_t time = 0;
  double half_width = 1;  ///< > 0
};

/// A smooth error function per clock: straight between knots at equal distances, the outermost
/// pieces extended.
class ClockErrors {
 public:
  ClockErrors() = default;
  /// `values` has `knots` numbers per clock, ticks; the first knot is at `begin`.
  ClockErrors(std::int64_t begin, double spacing, std::size_t knots, std::vector<double> values)
      : begin_(begin), spacing_(spacing), knots_(knots), values_(std::move(values)) {}

  /// Error of a clock at a presynchronised time, ticks.
  [[nodiscard]] double operator()(std::uint32_t clock, std::int64_t time) const;
  [[nodiscard]] std::span<const double> of(std::uint32_t clock) const {
    return {values_.data() + clock * knots_, knots_};
  }
  [[nodiscard]] std::size_t knots() const { return knots_; }
  /// Presynchronised time of a knot, ticks from the first one.
  [[nodiscard]] double distance(std::size_t knot) const {
    return static_cast<double>(knot) * spacing_;
  }
  [[nodiscard]] std::int64_t begin() const { return begin_; }

 private:
  std::int64_t begin_ = 0;
  double spacing_ = 1;
  std::size_t knots_ = 0;
  std::vector<double> values_;
};

/// The problem, all spans to outlive the call. No clock is left out, however little is known of it.
struct CausalProblem {
  std::size_t clocks = 0;
  std::int64_t begin = 0, end = 0;  ///< of all events, presynchronised; begin < end
  std::size_t knots = 0;            ///< per clock, at least 3
  double sigma = 1;                 ///< softness of a bound, ticks
  double latency = 0;               ///< least latency beyond that in the slacks, ticks
  std::span<const CausalBound> bounds;
  std::span<const SessionBound> sessions;
  const Progress* progress = nullptr;  ///< when it says so, fits do not converge; may be null
};

/// The fit for one smoothness.
struct CausalFit {
  ClockErrors errors;
  double amplitude = 0;        ///< A: how far clocks were expected to bend over the run, ticks
  double log_evidence = 0;     ///< of A, up to a constant of the problem
  std::size_t active = 0;      ///< bounds that hold the clocks
  double worst_violation = 0;  ///< of a bound, ticks
  int steps = 0;               ///< of Newton's method
  bool converged = false;
};

/// Minimises over e, straight between knots,
///
///     lambda sum_i integral e_i''^2 dt + sum_sessions (e / half_width)^2
///       + sum_bounds max(0, e_to - e_from - slack)^2 / sigma^2,   lambda = T^3 / (12 A^2)
///
/// by semi-smooth Newton steps with a line search, from `start` (ClockErrors of the same knots, or
/// empty: 0). Exactly 0 if no bound is violated at 0. Deterministic. (docs/method.md, section 8)
[[nodiscard]] CausalFit fit_causal(const CausalProblem& problem, double amplitude,
                                   const ClockErrors& start = {});

/// The fit with the amplitude and the number of knots that the data make most likely: amplitudes
/// from the stiffest on (or, if it is not 0, around `amplitude`, that of a fit to much the same
/// bounds), as long as the evidence grows, then with twice the knots, up to `most_knots`, as long
/// as that grows. `problem.knots` is not looked at. (MacKay, Bayesian interpolation, 1992)
[[nodiscard]] CausalFit choose_fit(CausalProblem problem, std::size_t most_knots,
                                   double amplitude = 0);

/// How well messages can tell clocks apart, in ticks, at least 1: a quarter of the shortest round
/// trip of any pair of clocks in any window, which no offset between the clocks changes. `width` is
/// that of a window. With the errors as far as they are known.
[[nodiscard]] double latency_scale(std::span<const CausalBound> bounds, std::int64_t begin,
                                   std::int64_t width, const ClockErrors* errors);

}  // namespace entrain::causal
