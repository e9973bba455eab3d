// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "causal/curvature.hpp"
#include "causal/fit.hpp"

namespace entrain::causal {

/// The function that fit_causal() minimises, halved, over the values of all clocks at their knots:
/// `v` has `knots` numbers per clock, one clock after the other, ticks.
class FitCost {
 public:
  /// Builds the terms. `problem` must outlive this.
  explicit FitCost(const CausalProblem& problem);

  /// Sets how far clocks are expected to bend over the run, ticks. Call it before the others.
  void set_amplitude(double amplitude);

  [[nodiscard]] double value(std::span<const double> v) const;
  [[nodiscard]] std::vector<double> gradient(std::span<const double> v) const;
  /// Per constraint: true if `v` violates it, so that its term counts.
  [[nodiscard]] std::vector<bool> active(std::span<const double> v) const;

  /// Weight of a second difference; its square is the factor in the cost.
  [[nodiscard]] double stiffness() const { return stiffness_; }
  [[nodiscard]] double spacing() const { return spacing_; }  ///< between knots, ticks
  [[nodiscard]] std::size_t size() const { return problem_.clocks * problem_.knots; }
  [[nodiscard]] const std::vector<FitTerm>& constraints() const { return constraints_; }
  /// The terms that always count: sessions, and a prior that only keeps the fit well-posed.
  [[nodiscard]] const std::vector<FitTerm>& fixed() const { return fixed_; }

 private:
  /// Adds `weight` times the error of a clock at a time.
  void append(FitRow& row, std::uint32_t clock, std::int64_t time, double weight) const;
  void add_constraints();
  void add_sessions();
  void add_prior();
  template <class Body>
  void for_inner_knots(Body body) const;

  const CausalProblem& problem_;
  double span_;
  double spacing_;
  double stiffness_ = 1;
  std::vector<FitTerm> constraints_, fixed_;
};

}  // namespace entrain::causal
