// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "fit/active_set_selector.hpp"
#include "fit/curvature.hpp"
#include "fit/fit_cost.hpp"
#include "fit/interior_point.hpp"
#include "fit/problem.hpp"

namespace entrain::fit {

/// Minimises over e, linear between knots,
///
///     lambda sum_i integral e_i''^2 dt + sum_sessions (e / half_width)^2
///       + sum_constraints max(0, e_to - e_from - slack + latency)^2 / sigma^2
///
/// with lambda = T^3 / (12 A^2), T: length of the run, A: amplitude. Takes semi-smooth Newton steps
/// with a line search from `start` (ClockErrors of the same knots, or empty: 0), or an
/// interior-point method if these would be many. An empty start yields exactly 0 if zero errors
/// meet all constraints. If neither method converges, the amplitude is divided by 10^(n/2), n up to
/// 4: CausalFit::amplitude. Deterministic. (docs/method.md, section 8)
[[nodiscard]] CausalFit fit_causal(const CausalProblem& problem, double amplitude,
                                   const ClockErrors& start = {});

/// Solves one problem for any number of amplitudes (fit_causal()): active-set selection around
/// Newton's method and an interior-point method. Every fit has a budget of multiplications and does
/// not converge if it would exceed that. Fits are independent.
class FitSolver {
 public:
  /// `problem` must outlive this.
  explicit FitSolver(const CausalProblem& problem);
  FitSolver(const FitSolver&) = delete;
  FitSolver& operator=(const FitSolver&) = delete;

  [[nodiscard]] CausalFit run(double amplitude, const ClockErrors& start);
  /// True if a fit of so many clocks, all coupled with each other, stays within its budget on so
  /// many knots.
  [[nodiscard]] static bool settles_in_band(std::size_t clocks, std::size_t knots);

 private:
  using Vector = std::vector<double>;

  enum class End { minimum, steps, given_up };

  bool descend(Vector& v, CausalFit& fit);
  std::size_t activate(const Vector& v, double margin);
  bool descend_on_active_set(Vector& v, CausalFit& fit);
  End descend_by_interior_point(Vector& v);
  End descend_by_continuation(Vector& v, CausalFit& fit);
  End minimise(Vector& v, double enough, int most_steps);
  void describe(const Vector& v, CausalFit& fit);
  bool factorize(const Vector& v);

  const CausalProblem& problem_;
  FitCost cost_;
  ConstraintTable table_;
  Curvature curvature_;
  ActiveSetSelector selector_;
  InteriorPoint interior_point_;
  std::vector<std::uint32_t> active_;  ///< constraints in the matrix of the last factorize()
};

}  // namespace entrain::fit
