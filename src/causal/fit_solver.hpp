// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "causal/curvature.hpp"
#include "causal/fit.hpp"
#include "causal/fit_cost.hpp"

namespace entrain::causal {

/// Solves one problem for any number of amplitudes: see fit_causal(). All fits of one solver share
/// one budget of work; a fit that would need more does not converge.
class FitSolver {
 public:
  /// `problem` must outlive this.
  explicit FitSolver(const CausalProblem& problem);
  FitSolver(const FitSolver&) = delete;
  FitSolver& operator=(const FitSolver&) = delete;

  [[nodiscard]] CausalFit run(double amplitude, const ClockErrors& start);

 private:
  using Vector = std::vector<double>;

  [[nodiscard]] Vector values_of(const ClockErrors& start) const;
  bool descend(Vector& v, double& cost, CausalFit& fit);
  [[nodiscard]] std::optional<double> search_line(Vector& v, const Vector& step, double slope,
                                                  double cost);
  void describe(const Vector& v, double cost, CausalFit& fit);
  [[nodiscard]] bool is_too_steep(const ClockErrors& errors) const;
  bool factorize(const Vector& v);

  const CausalProblem& problem_;
  FitCost cost_;
  Curvature curvature_;
};

}  // namespace entrain::causal
