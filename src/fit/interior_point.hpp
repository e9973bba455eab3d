// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "fit/curvature.hpp"
#include "fit/fit_cost.hpp"

namespace entrain::fit {

/// Primal-dual interior-point method for the cost of a fit, from any start, with Mehrotra's
/// predictor-corrector (On the implementation of a primal-dual interior point method, 1992) and
/// Gondzio's further correctors (Multiple centrality corrections, 1996).
///
/// A constraint that is exceeded by r has the dual variable z = w r (w = 1 / sigma^2), any other
/// one has z = 0. With the slack t = z / w - r >= 0 this is z t = 0: complementarity. The method
/// starts with the same product z t > 0 for all constraints and lowers it in every step.
///
/// Example: w = 1 and z t = 0.01. A constraint missed by 1 has z = 0.01, one exceeded by 1 has z =
/// 1.01, and one just met has z = t = 0.1: nothing is discontinuous where a constraint becomes
/// active. Newton's method on the cost itself stops at every constraint on its way: hundreds of
/// them if the amplitude is large and sigma small. This method takes about twenty steps from
/// anywhere, each as costly as two Newton steps.
///
/// Constraints that are added later start with the average product of the others. A very short step
/// means that the products have diverged: all constraints then restart with one product, at the
/// present unknowns.
///
/// Not thread safe.
class InteriorPoint {
 public:
  /// Adds constraints to the cost and the curvature: those that `v` exceeds or misses by less than
  /// `margin`, ticks.
  using Activate = std::function<void(const std::vector<double>& v, double margin)>;

  /// Both must have the same constraints, and outlive this. `activate` is called at every step.
  InteriorPoint(FitCost& cost, Curvature& curvature, Activate activate)
      : cost_(cost), curvature_(curvature), activate_(std::move(activate)) {}

  /// Moves `v` to where the active constraints are those of the minimum, except for rounding.
  /// Returns the number of steps. Empty, with `v` anywhere, if that would take more multiplications
  /// than `most_work`, if a factorisation fails, or once `cancel` asks to stop. With a
  /// `tolerance`, ends where the cost exceeds the least one by about that share.
  std::optional<int> run(std::vector<double>& v, double most_work, const Progress* cancel,
                         double tolerance = 0);

 private:
  using Vector = std::vector<double>;

  struct State {
    double dual = 0, slack = 0;
    double dual_step = 0, slack_step = 0;
    double target = 0;  ///< product dual * slack aimed at, linearised
  };
  /// A direction of the unknowns, and the multiple of it that is made.
  struct Step {
    Vector of;
    double length = 0;
  };

  double activate(const Vector& v, double middle);
  [[nodiscard]] Vector gradient(const Vector& v) const;
  bool factorize();
  [[nodiscard]] Vector find_step(Vector gradient);
  [[nodiscard]] Step best_step(const Vector& gradient, double sum);
  bool correct(const Vector& gradient, double aimed, Step& step);
  [[nodiscard]] double longest_step() const;
  [[nodiscard]] double complementarity(double length) const;

  FitCost& cost_;
  Curvature& curvature_;
  Activate activate_;
  double weight_ = 1;                  ///< w = 1 / sigma^2
  std::vector<State> states_;          ///< one per constraint of the cost
  std::vector<std::uint32_t> active_;  ///< numbers of those in the matrix, and their shares
  Vector shares_;
};

}  // namespace entrain::fit
