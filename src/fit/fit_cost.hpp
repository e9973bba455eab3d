// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fit/problem.hpp"
#include "fit/terms.hpp"

namespace entrain::fit {

/// Half of the function that fit_causal() minimises. `v` has `knots` numbers per clock, one clock
/// after the other, ticks.
class FitCost {
 public:
  /// Builds the terms. `problem` must outlive this.
  explicit FitCost(const CausalProblem& problem);

  /// Starts a fit without constraints.
  void begin() { constraints_.clear(); }
  void add(std::span<const FitConstraint> constraints) {
    constraints_.insert(constraints_.end(), constraints.begin(), constraints.end());
  }
  /// Sets the amplitude: the expected bend of a clock over the run, ticks. Call it before the
  /// functions below.
  void set_amplitude(double amplitude);

  [[nodiscard]] double value(std::span<const double> v) const;
  [[nodiscard]] std::vector<double> gradient(std::span<const double> v) const;
  /// Gradient of all terms except the constraints.
  [[nodiscard]] std::vector<double> fixed_gradient(std::span<const double> v) const;
  /// Line search: the step length of least value, at most 1. `slope`: derivative of the value at
  /// `v` along the step, below 0.
  [[nodiscard]] double best_length(std::span<const double> v, std::span<const double> step,
                                   double slope) const;
  /// Active set: numbers of the constraints that `v` violates, ascending.
  [[nodiscard]] std::vector<std::uint32_t> active(std::span<const double> v) const;

  /// Weight of a second difference; its square is the factor in the cost.
  [[nodiscard]] double stiffness() const { return stiffness_; }
  /// Hessian of all terms except the constraints: bends, sessions, and a vague prior that makes the
  /// fit well-posed.
  [[nodiscard]] const FitMatrix& fixed() const { return fixed_; }
  [[nodiscard]] double spacing() const { return spacing_; }  ///< ticks between knots
  [[nodiscard]] std::size_t size() const { return problem_.clocks * problem_.knots; }
  [[nodiscard]] const std::vector<FitConstraint>& constraints() const { return constraints_; }
  /// Weight of a violation, 1 / ticks.
  [[nodiscard]] double scale() const { return 1 / problem_.sigma; }
  /// Largest excess of `v` over a constraint, ticks, at least 0.
  [[nodiscard]] double worst(std::span<const double> v) const;

 private:
  void add_term(std::uint32_t clock, std::int64_t time, double half_width);

  const CausalProblem& problem_;
  double span_;
  double spacing_;
  double stiffness_ = 1;
  KnotPlaces places_;
  std::vector<FitConstraint> constraints_;  ///< those added so far
  FitEntries terms_;                        ///< sessions and the prior
  FitMatrix fixed_;
};

}  // namespace entrain::fit
