// SPDX-License-Identifier: BSD-3-Clause
#include "fit/interior_point.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/cancel.hpp"

namespace entrain::fit {

namespace {

/// Test: interior_point_test.cpp. Values without a decision were chosen, not measured.
struct InteriorPointThresholds {
  static constexpr int most_steps = 70;
  /// Usual number of steps: a first step that costs more than this part of the budget is the last.
  static constexpr int usual_steps = 25;
  /// Initial slack of a constraint just met: multiple of the worst violation, at least of sigma.
  static constexpr double first_slack = 0.3, least_first_slack = 2;
  /// Constraints missed by less than this multiple of the central slack are added (decision 37).
  static constexpr double activate = 5;
  /// Least share of the weight of an exceeded constraint that enters the matrix. Without it steps
  /// become a little too long, which longest_step() corrects.
  static constexpr double least_share = 1e-9;
  static constexpr double stay_inside = 0.995;  ///< share of the step to the boundary
  /// Sum of all products, in units of the cost, at which the active set is that of the minimum.
  static constexpr double least_complementarity = 1e-9;
  static constexpr int most_correctors = 2;  ///< correctors per step (Gondzio 1996)
  static constexpr double long_step = 0.9;   ///< longer steps get no corrector
  static constexpr double apart = 10;        ///< correctors pull products within this factor
  static constexpr double least_gain = 0.1;  ///< share of the hoped gain a corrector must bring
  static constexpr double short_step = 0.3;  ///< shorter steps start all constraints again
  static constexpr double widen = 30;        ///< multiple of the central slack they then get
};

}  // namespace

/// Adds constraints missed by less than a multiple of `middle`, ticks. Gives all that have no state
/// the product weight * middle^2: a constraint just met then has the slack `middle`. Returns the
/// cost of the new duals, which nothing balances yet.
double InteriorPoint::activate(const Vector& v, double middle) {
  activate_(v, InteriorPointThresholds::activate * middle);
  const std::vector<FitConstraint>& constraints = cost_.constraints();
  double squares = 0;
  for (std::size_t i = states_.size(); i < constraints.size(); ++i) {
    const double over = constraints[i].excess(v);
    const double root = std::sqrt(over * over + 4 * middle * middle);
    // The smaller one follows from the product: a difference would cancel.
    const double large = (root + std::abs(over)) / 2, small = middle * middle / large;
    State& state = states_.emplace_back();
    state.dual = weight_ * (over > 0 ? large : small);
    state.slack = over > 0 ? small : large;
    squares += state.dual * state.dual;
  }
  return squares / (2 * weight_);
}

/// Residual of the stationarity condition: 0 at the minimum.
InteriorPoint::Vector InteriorPoint::gradient(const Vector& v) const {
  Vector gradient = cost_.fixed_gradient(v);
  for (std::size_t i = 0; i < states_.size(); ++i)
    cost_.constraints()[i].push(gradient, states_[i].dual);
  return gradient;
}

bool InteriorPoint::factorize() {
  active_.clear();
  shares_.clear();
  for (std::uint32_t i = 0; i < states_.size(); ++i) {
    const double share = states_[i].dual / (weight_ * states_[i].slack + states_[i].dual);
    if (share < InteriorPointThresholds::least_share) continue;
    active_.push_back(i);
    shares_.push_back(share);
  }
  return curvature_.compute(cost_.fixed(), active_, SolveMethod::automatic, shares_) &&
         !curvature_.is_iterative();
}

/// Newton step towards a gradient of 0 and the targets of all products.
InteriorPoint::Vector InteriorPoint::find_step(Vector gradient) {
  const std::vector<FitConstraint>& constraints = cost_.constraints();
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const State& state = states_[i];
    constraints[i].push(
        gradient, (state.target - state.dual * state.slack) / (state.slack + state.dual / weight_));
  }
  Vector step = curvature_.solve(gradient);
  for (double& x : step) x = -x;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    State& state = states_[i];
    const double change = constraints[i].excess(step) + constraints[i].bound;
    state.dual_step = (state.target - state.dual * state.slack + state.dual * change) /
                      (state.slack + state.dual / weight_);
    state.slack_step = state.dual_step / weight_ - change;
  }
  return step;
}

/// Multiple of the step at which a dual or a slack becomes 0.
double InteriorPoint::longest_step() const {
  double length = std::numeric_limits<double>::infinity();
  for (const State& state : states_) {
    if (state.dual_step < 0) length = std::min(length, -state.dual / state.dual_step);
    if (state.slack_step < 0) length = std::min(length, -state.slack / state.slack_step);
  }
  return length;
}

/// Sum of all products dual * slack after `length` of the step.
double InteriorPoint::complementarity(double length) const {
  double sum = 0;
  for (const State& state : states_)
    sum += (state.dual + length * state.dual_step) * (state.slack + length * state.slack_step);
  return sum;
}

/// Predictor and correctors towards smaller products; `sum`: of all present products.
InteriorPoint::Step InteriorPoint::best_step(const Vector& gradient, double sum) {
  // The predictor aims at products of 0. Its length determines the target of the corrector.
  for (State& state : states_) state.target = 0;
  static_cast<void>(find_step(gradient));
  // At the end of the longest step a product is 0, but for rounding.
  const double ratio = std::max(0.0, complementarity(std::min(1.0, longest_step())) / sum);
  const double aimed = ratio * ratio * ratio * sum / static_cast<double>(states_.size());
  for (State& state : states_) state.target = aimed - state.dual_step * state.slack_step;
  Step step{find_step(gradient),
            std::min(1.0, InteriorPointThresholds::stay_inside * longest_step())};
  for (int n = 0; n < InteriorPointThresholds::most_correctors &&
                  step.length < InteriorPointThresholds::long_step;
       ++n) {
    if (!correct(gradient, aimed, step)) break;
  }
  return step;
}

/// Lengthens a step by pulling outlying products together. False, with all as before, if that gains
/// little.
bool InteriorPoint::correct(const Vector& gradient, double aimed, Step& step) {
  const double wanted = std::min(1.0, 1.08 * step.length + 0.08);
  std::vector<State> before = states_;
  for (State& state : states_) {
    const double there =
        (state.dual + wanted * state.dual_step) * (state.slack + wanted * state.slack_step);
    const double change = std::clamp(there, aimed / InteriorPointThresholds::apart,
                                     aimed * InteriorPointThresholds::apart) -
                          there;
    state.target += std::max(change, -aimed * InteriorPointThresholds::apart);
  }
  Step other{find_step(gradient),
             std::min(1.0, InteriorPointThresholds::stay_inside * longest_step())};
  if (other.length < step.length + InteriorPointThresholds::least_gain * (wanted - step.length)) {
    states_.swap(before);
    return false;
  }
  step = std::move(other);
  return true;
}

std::optional<int> InteriorPoint::run(Vector& v, double most_work, const Progress* progress,
                                      double tolerance) {
  const Cancel cancel(progress);
  weight_ = cost_.scale() * cost_.scale();
  states_.clear();
  const double first_slack = std::max(InteriorPointThresholds::first_slack * cost_.worst(v),
                                      InteriorPointThresholds::least_first_slack / cost_.scale());
  static_cast<void>(activate(v, first_slack));
  const double work_before = curvature_.work();
  double unbalanced = 1;      // share of the first gradient that is left
  double unbalanced_new = 0;  // cost of the duals that came later
  for (int steps = 0; steps < InteriorPointThresholds::most_steps; ++steps) {
    const double sum = complementarity(0);
    double cost_of_duals = 0;
    for (const State& state : states_) cost_of_duals += state.dual * state.dual;
    cost_of_duals /= 2 * weight_;
    const double left = std::max({sum, unbalanced * cost_of_duals, unbalanced_new});
    // With a tolerance no Newton steps follow.
    if ((tolerance > 0 ? left : sum) < InteriorPointThresholds::least_complementarity) return steps;
    if (tolerance > 0 && left < tolerance * cost_.value(v)) return steps;
    if (cancel.asked() || !factorize()) return {};
    const double work = curvature_.work() - work_before;
    if (work > most_work || (steps == 0 && work * InteriorPointThresholds::usual_steps > most_work))
      return {};
    const Step step = best_step(gradient(v), sum);
    for (std::size_t i = 0; i < v.size(); ++i) v[i] += step.length * step.of[i];
    for (State& state : states_) {
      state.dual += step.length * state.dual_step;
      state.slack += step.length * state.slack_step;
      state.dual_step = state.slack_step = 0;
    }
    unbalanced *= 1 - step.length;
    unbalanced_new *= 1 - step.length;
    // Slack of a constraint just met whose product is the average (point on the central path).
    double middle = std::sqrt(complementarity(0) / static_cast<double>(states_.size()) / weight_);
    if (step.length < InteriorPointThresholds::short_step) {
      middle *= InteriorPointThresholds::widen;
      states_.clear();
    }
    unbalanced_new += activate(v, middle);
  }
  return {};
}

}  // namespace entrain::fit
