// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "causal/constraint_cache.hpp"
#include "causal/curvature.hpp"
#include "causal/fit.hpp"
#include "causal/knot_places.hpp"

namespace entrain::causal {

/// The function that fit_causal() minimises, halved, over the values of all clocks at their knots:
/// `v` has `knots` numbers per clock, one clock after the other, ticks.
class FitCost {
 public:
  /// Builds the terms. `problem` must outlive this.
  explicit FitCost(const CausalProblem& problem);

  /// Begins a fit: no constraint takes part.
  void begin();
  /// From now on these constraints take part too.
  void add(std::span<const FitConstraint> constraints);
  /// Sets how far clocks are expected to bend over the run, ticks. Call it before the others.
  void set_amplitude(double amplitude);

  [[nodiscard]] double value(std::span<const double> v);
  [[nodiscard]] std::vector<double> gradient(std::span<const double> v);
  /// Twice the part of value() that bends make.
  [[nodiscard]] double bend(std::span<const double> v) const;
  /// The gradient of all terms but the constraints.
  [[nodiscard]] std::vector<double> fixed_gradient(std::span<const double> v) const;
  /// The share of `step`, at most 1, after which the value is least. `slope`: of the value at `v`
  /// along the step, below 0.
  [[nodiscard]] double best_length(std::span<const double> v, std::span<const double> step,
                                   double slope);
  /// Numbers of the constraints that `v` violates, so that their terms count; ascending.
  [[nodiscard]] std::vector<std::uint32_t> active(std::span<const double> v);
  /// Says that `v` was reached by moving no unknown by more than `step`, so that from now on they
  /// will hardly move further. Spares time only.
  void arrive(std::span<const double> v, double step) { near_.expect(v, step); }

  /// Weight of a second difference; its square is the factor in the cost.
  [[nodiscard]] double stiffness() const { return stiffness_; }
  [[nodiscard]] double spacing() const { return spacing_; }  ///< between knots, ticks
  [[nodiscard]] std::size_t size() const { return problem_.clocks * problem_.knots; }
  [[nodiscard]] const std::vector<FitConstraint>& constraints() const { return constraints_; }
  /// The terms that always count: sessions, and a prior that only keeps the fit well-posed.
  [[nodiscard]] const std::vector<FitTerm>& fixed() const { return fixed_; }
  [[nodiscard]] double scale() const { return 1 / problem_.sigma; }  ///< of all constraints
  /// By how much `v` exceeds a constraint at most, ticks, at least 0.
  [[nodiscard]] double worst(std::span<const double> v);

 private:
  [[nodiscard]] FitTerm term(std::uint32_t clock, std::int64_t time, double scale) const;
  void add_sessions();
  void add_prior();
  [[nodiscard]] double fixed_bend(std::span<const double> step) const;
  template <class Body>
  void for_inner_knots(Body body) const;

  const CausalProblem& problem_;
  double span_;
  double spacing_;
  double stiffness_ = 1;
  KnotPlaces places_;
  std::vector<FitConstraint> constraints_;  ///< the constraints that take part
  ConstraintCache near_;
  std::vector<FitTerm> fixed_;
  std::vector<double> over_, change_;  ///< of the constraints near a step, see best_length()
};

}  // namespace entrain::causal
