// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "causal/active_set_selector.hpp"
#include "causal/curvature.hpp"
#include "causal/fit.hpp"
#include "causal/fit_cost.hpp"
#include "causal/interior_point.hpp"

namespace entrain::causal {

/// True if softness does not explain the cost of a fit, many times over: then there are too few
/// knots.
[[nodiscard]] inline bool is_underresolved(const CausalFit& fit, double times = 1) {
  constexpr double k_most_per_constraint = 25;
  return fit.cost > times * k_most_per_constraint * static_cast<double>(fit.active);
}

/// Solves one problem for any number of amplitudes: see fit_causal(). Every fit has a budget of
/// work, and does not converge if it would need more. The fits do not depend on each other.
class FitSolver {
 public:
  /// `problem` must outlive this.
  explicit FitSolver(const CausalProblem& problem);
  FitSolver(const FitSolver&) = delete;
  FitSolver& operator=(const FitSolver&) = delete;

  /// `allow_approximate`: where constraints cannot be met by far, about the minimum is enough
  /// (is_approximate).
  [[nodiscard]] CausalFit run(double amplitude, const ClockErrors& start,
                              bool allow_approximate = false);
  /// From now on fits stay on the thread that calls, or not.
  void work_alone(bool alone) { curvature_.halves().work_alone(alone); }
  /// What a fit tells of the amplitude.
  struct Reestimate {
    double amplitude = 0;   ///< likelier than that of the fit, ticks
    double determined = 0;  ///< how many second differences the constraints determine
  };
  /// `fit`: what the last run() returned; it has converged. Nothing is known to be determined where
  /// equations are left to conjugate gradients.
  ///
  /// Of the second differences of all clocks, constraints determine g. If the sum of their squares
  /// is S, in units of what the amplitude A lets expect, the evidence grows with A while S > g
  /// (MacKay, Bayesian interpolation, 1992). It would be greatest at A sqrt(S / g) if the
  /// constraints that hold the clocks did not change. Example: 20 differences are determined, and S
  /// is 80: twice the amplitude.
  [[nodiscard]] Reestimate reestimate(const CausalFit& fit);

  /// True if a fit of clocks that all meet each other keeps within its work on so many knots.
  [[nodiscard]] static bool settles_in_band(std::size_t clocks, std::size_t knots);

 private:
  using Vector = std::vector<double>;

  /// How a descent ended.
  enum class End { minimum, steps, given_up };

  [[nodiscard]] Vector values_of(const ClockErrors& start) const;
  bool descend(Vector& v, CausalFit& fit);
  std::size_t activate(const Vector& v, double margin);
  bool descend_on_active_set(Vector& v, CausalFit& fit);
  End descend_by_interior_point(Vector& v, CausalFit& fit);
  [[nodiscard]] bool is_underresolved(const Vector& v, double times);
  End descend_by_continuation(Vector& v, CausalFit& fit);
  End minimise(Vector& v, double enough, int most_steps, CausalFit& fit);
  [[nodiscard]] double search_line(Vector& v, const Vector& step, double slope);
  void describe(const Vector& v, CausalFit& fit);
  [[nodiscard]] bool is_too_steep(const ClockErrors& errors) const;
  bool factorize(const Vector& v);

  const CausalProblem& problem_;
  FitCost cost_;
  ConstraintTable table_;
  Curvature curvature_;
  ActiveSetSelector selector_;
  InteriorPoint interior_point_;
  bool allow_approximate_ = false;     ///< see run()
  std::vector<std::uint32_t> active_;  ///< constraints in the matrix of the last factorize()
};

}  // namespace entrain::causal
