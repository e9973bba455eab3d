// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "causal/curvature.hpp"
#include "causal/fit_cost.hpp"

namespace entrain::causal {

/// Finds the minimum of a fit's cost from anywhere, through the inside of its constraints: a
/// primal-dual interior-point method with Mehrotra's predictor and corrector (On the implementation
/// of a primal-dual interior point method, 1992) and Gondzio's further correctors (Multiple
/// centrality corrections, 1996).
///
/// A constraint that is exceeded by r pushes two clocks with the dual w r, one that is not exceeded
/// with none. So a dual z leaves a slack t = z / w - r >= 0, and z t = 0: either there is slack, or
/// there is a dual. The method begins with the same z t > 0 for all constraints, and makes it
/// smaller with every step, as one for all. Example: w = 1, and z t = 0.01. A constraint missed by
/// 1 has z = 0.01, one exceeded by 1 has z = 1.01, and one that is just met has z = t = 0.1:
/// nothing jumps where a constraint is met. Newton's method on the cost itself stops at every
/// constraint that it meets on its way; where clocks are soft and constraints hard, these are
/// hundreds. This one takes some twenty steps from anywhere, each as dear as two of the others.
///
/// Constraints come in when they are near, with a product like those of all others, and leave when
/// they are far.
///
/// A step that gets nowhere means that products have come apart: all begin as one again then, from
/// where the unknowns are.
///
/// One thread per object.
class InteriorPoint {
 public:
  /// Takes more constraints into the cost and the curvature, those that `v` exceeds or misses by
  /// less than `margin`, ticks.
  using Activate = std::function<void(const std::vector<double>& v, double margin)>;

  /// True if unknowns so close to the minimum tell all that is wanted.
  using StopEarly = std::function<bool(const std::vector<double>& v)>;

  /// Both must have the same constraints, and outlive this. `take` is asked for more of them at
  /// every step.
  InteriorPoint(FitCost& cost, Curvature& curvature, Activate activate)
      : cost_(cost), curvature_(curvature), activate_(std::move(activate)) {}

  /// Goes from `v`, which follows, to where the constraints that are met are those of the minimum,
  /// but for rounding. Returns the number of steps. Nothing, with `v` anywhere, if that would take
  /// more multiplications than `most_work`, or does not work out; `cancel` ends it so, too. With
  /// `stop_early`, looks at `v` once about the minimum is found, and ends there if that is true.
  /// With a `tolerance`, ends where the cost is above the least one by about that share.
  std::optional<int> run(std::vector<double>& v, double most_work, const Progress* cancel,
                         const StopEarly& stop_early = {}, double tolerance = 0);

  /// True if the last run() ended so.
  [[nodiscard]] bool stopped_early() const { return stopped_early_; }

 private:
  using Vector = std::vector<double>;

  /// What a constraint does, and what a step changes of it.
  struct State {
    double dual = 0, slack = 0;
    double dual_step = 0, slack_step = 0;
    double target = 0;  ///< what dual * slack is to become, where they change along straight lines
  };
  /// A step of the unknowns, and how many times it can be made.
  struct Step {
    Vector of;
    double length = 0;
  };

  /// Some of the constraints that take part.
  struct Part {
    std::vector<FitConstraint> constraints;
    std::vector<State> states, states_before;
    std::vector<std::uint32_t> numbers;  ///< in FitCost::constraints()
    std::vector<std::uint32_t> active;   ///< in the matrix, and their shares
    Vector shares;
  };

  [[nodiscard]] std::size_t near_count() const;
  template <class Body>
  void for_parts(const Body& body);
  template <class Body>
  [[nodiscard]] double sum_of_parts(const Body& body) const;
  void drop_all();
  double drop_far(const Vector& v, double margin, Part& part);
  double activate_near(const Vector& v, double middle, double move);
  [[nodiscard]] Vector gradient(const Vector& v);
  bool factorize();
  [[nodiscard]] Vector find_step(Vector gradient);
  [[nodiscard]] Step best_step(const Vector& gradient, double sum);
  bool correct(const Vector& gradient, double aimed, Step& step);
  double advance(Vector& v, const Step& step);
  [[nodiscard]] double longest_step() const;
  [[nodiscard]] double complementarity(double length) const;
  [[nodiscard]] double central_slack() const;
  [[nodiscard]] double cost_of_duals() const;

  FitCost& cost_;
  Curvature& curvature_;
  Activate activate_;
  double weight_ = 1;  ///< w
  bool stopped_early_ = false;
  /// Those whose unknowns all lie in the first half of the run, those in the second, and the rest:
  /// two threads take one half each (Curvature::half_of()).
  std::array<Part, 3> parts_;
  std::vector<std::uint8_t> is_near_;  ///< of all constraints
  std::vector<std::uint32_t> active_;  ///< in the matrix, and their shares
  Vector shares_;
};

}  // namespace entrain::causal
