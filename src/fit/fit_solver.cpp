// SPDX-License-Identifier: BSD-3-Clause
#include "fit/fit_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "base/cancel.hpp"

namespace entrain::fit {

namespace {

/// Newton's method, the active set and continuation. Tests: choose_fit_test.cpp,
/// interior_point_test.cpp; values without a decision (docs/decisions) were chosen, not measured.
struct NewtonThresholds {
  static constexpr double most_work = 2e9;  ///< budget, multiplications; about 1 s (decision 10)
  static constexpr double most_interior_work = 1e9;        ///< part of it for the interior point
  static constexpr double usual_most_interior_steps = 60;  ///< hardly ever exceeded
  static constexpr double residual = 1e-3;           ///< relative, at which conjugate gradients end
  static constexpr int most_steps = 30;              ///< Newton steps with one amplitude
  static constexpr int most_approximate_steps = 15;  ///< the same for a stage of the continuation
  static constexpr int patience = 4;  ///< Newton steps before another method is tried
  /// Newton steps where no other method is affordable, or convergence is fast (decisions 37, 45).
  static constexpr int long_patience = 20;
  /// Convergence is fast if the predicted decrease of the cost shrinks by this factor per step.
  static constexpr double fast = 2;
  /// Violation in units of sigma beyond which Newton's method is skipped for the interior point.
  static constexpr double far = 64;
  /// A step must lower the cost by this share: for the amplitude asked for, and for earlier stages.
  static constexpr double exact_gain = 1e-12, approximate_gain = 1e-2;
  /// Initial active set: constraints missed by less than this multiple of the worst violation, plus
  /// this multiple of sigma.
  static constexpr double initial_margin = 4, initial_margin_sigmas = 16;
  /// Stages of the continuation: shares 10^(-n/2) of the amplitude.
  static constexpr std::array<double, 5> stages{0.01, 0.0316227766016838, 0.1, 0.316227766016838,
                                                1};
  /// Largest rate of an error, ticks per tick. Squeezing all times together also meets constraints.
  static constexpr double most_rate = 0.1;
};

}  // namespace

CausalFit fit_causal(const CausalProblem& problem, double amplitude, const ClockErrors& start) {
  return FitSolver(problem).run(amplitude, start);
}

FitSolver::FitSolver(const CausalProblem& problem)
    : problem_(problem),
      cost_(problem),
      table_(problem),
      curvature_(problem.clocks, problem.knots, cost_.scale()),
      selector_(table_),
      interior_point_(cost_, curvature_,
                      [this](const Vector& v, double margin) { activate(v, margin); }) {
  curvature_.stop_with(problem.progress);
}

CausalFit FitSolver::run(double amplitude, const ClockErrors& start) {
  CausalFit fit;
  fit.amplitude = amplitude;
  if (Cancel(problem_.progress).asked()) return fit;
  Vector v(cost_.size(), 0.0);
  if (start.knots() == problem_.knots) std::ranges::copy(start.values(), v.begin());
  if (descend(v, fit)) describe(v, fit);
  return fit;
}

/// Finds the minimum from `v`, which follows, by constraint generation: minimises over the active
/// set, activates the constraints violated there, and repeats until none is, or until they cost
/// less than the tolerance. False if the work is given up; otherwise the curvature is that of `v`,
/// without the constraints violated last.
bool FitSolver::descend(Vector& v, CausalFit& fit) {
  cost_.begin();
  selector_.begin();
  curvature_.begin();
  activate(v, NewtonThresholds::initial_margin * selector_.worst(v) +
                  NewtonThresholds::initial_margin_sigmas / cost_.scale());
  for (;;) {
    if (!descend_on_active_set(v, fit)) return fit.converged = false;
    if (!fit.converged) return true;
    const double most = problem_.tolerance > 0 ? (1 + problem_.tolerance) * cost_.value(v) : 0;
    if (activate(v, 0) == 0 || cost_.value(v) < most) return true;
  }
}

/// Activates the tightest constraints that `v` exceeds or misses by less than `margin`, ticks.
/// Returns their number.
std::size_t FitSolver::activate(const Vector& v, double margin) {
  std::vector<FitConstraint> activated;
  for (const std::uint32_t number : selector_.select(v, margin))
    activated.push_back(table_.constraint_at(number));
  cost_.add(activated);
  curvature_.set_constraints(cost_.constraints());
  return activated.size();
}

/// Minimises over the active set. Lowers the amplitude if clocks as soft as that do not converge.
///
/// Newton's method stops at one constraint after the other where soft clocks exceed many by far.
/// Stiff clocks converge soon, and each minimum is close to that of slightly softer clocks
/// (continuation).
bool FitSolver::descend_on_active_set(Vector& v, CausalFit& fit) {
  cost_.set_amplitude(fit.amplitude);
  End end = End::steps;
  if (cost_.worst(v) * cost_.scale() < NewtonThresholds::far)
    end = minimise(v, NewtonThresholds::exact_gain, NewtonThresholds::patience);
  if (end == End::steps) end = descend_by_interior_point(v);
  if (end == End::steps) end = descend_by_continuation(v, fit);
  if (end == End::given_up) return false;
  fit.converged = end == End::minimum;
  return fit.converged || factorize(v);
}

/// Interior-point method, then Newton's method to the minimum itself. `v` follows only if that is
/// reached: the matrix of many coupled clocks costs too much elsewhere.
FitSolver::End FitSolver::descend_by_interior_point(Vector& v) {
  if (curvature_.is_clearly_costly()) return End::steps;
  Vector there = v;
  if (!interior_point_.run(there, NewtonThresholds::most_interior_work, problem_.progress,
                           problem_.tolerance)) {
    return End::steps;
  }
  if (problem_.tolerance > 0) {
    v = std::move(there);
    return factorize(v) ? End::minimum : End::given_up;
  }
  const End end = minimise(there, NewtonThresholds::exact_gain, NewtonThresholds::most_steps);
  if (end == End::minimum) v = std::move(there);
  return end;
}

FitSolver::End FitSolver::descend_by_continuation(Vector& v, CausalFit& fit) {
  const double asked = fit.amplitude;
  std::vector<std::pair<double, Vector>> stages;  // amplitude and approximate minimum
  End end = End::minimum;
  for (const double share : NewtonThresholds::stages) {
    cost_.set_amplitude(share * asked);
    end = minimise(v, NewtonThresholds::approximate_gain, NewtonThresholds::most_approximate_steps);
    if (end != End::minimum) break;
    stages.emplace_back(share * asked, v);
  }
  for (; end != End::given_up && !stages.empty(); stages.pop_back()) {
    fit.amplitude = stages.back().first;
    v = std::move(stages.back().second);
    cost_.set_amplitude(fit.amplitude);
    end = minimise(v, NewtonThresholds::exact_gain, NewtonThresholds::most_steps);
    if (end == End::minimum) break;
  }
  return end;
}

/// Newton's method from `v`, which follows, until a step would lower the cost by less than the
/// share `enough`. Then the curvature is that of `v`.
FitSolver::End FitSolver::minimise(Vector& v, double enough, int most_steps) {
  const Cancel cancel(problem_.progress);
  double cost = cost_.value(v), gain = 0;
  bool is_fast = false;
  const auto has_patience = [&] {
    return is_fast || curvature_.is_iterative() || curvature_.is_clearly_costly();
  };
  for (int n = 0; n < most_steps || (n < NewtonThresholds::long_patience && has_patience()); ++n) {
    if (cancel.asked()) return End::given_up;
    if (!factorize(v) || curvature_.work() > NewtonThresholds::most_work) return End::given_up;
    const Vector gradient = cost_.gradient(v);
    Vector step = curvature_.solve(gradient, NewtonThresholds::residual);
    for (double& x : step) x = -x;
    const double slope = std::inner_product(step.begin(), step.end(), gradient.begin(), 0.0);
    const double share =
        curvature_.is_iterative()
            ? std::max(enough, NewtonThresholds::residual * NewtonThresholds::residual)
            : enough;
    if (!(slope < -share * (1 + cost))) return End::minimum;
    is_fast = -slope < gain / NewtonThresholds::fast;
    gain = -slope;
    Vector there = v;
    const double length = cost_.best_length(v, step, slope);
    for (std::size_t i = 0; i < v.size(); ++i) there[i] += length * step[i];
    const double next = cost_.value(there);
    if (!(next < cost)) return End::minimum;
    v = std::move(there);
    cost = next;
    // Between two changes of the active constraints the cost is a parabola.
    if (length == 1 && !curvature_.is_iterative() && cost_.active(v) == active_)
      return End::minimum;
  }
  return End::steps;
}

/// Fills the evidence and the errors of the solution. The curvature must be that of `v`.
void FitSolver::describe(const Vector& v, CausalFit& fit) {
  const double unknowns = static_cast<double>(problem_.clocks * (problem_.knots - 2));
  fit.log_evidence =
      -cost_.value(v) + unknowns * std::log(cost_.stiffness()) - curvature_.log_determinant() / 2;
  fit.active = active_.size();
  fit.errors = ClockErrors(problem_.begin, cost_.spacing(), problem_.knots, v);
  const auto is_too_steep = [&](double a, double b) {
    return std::abs(b - a) > NewtonThresholds::most_rate * cost_.spacing();
  };
  for (std::uint32_t c = 0; c < problem_.clocks; ++c) {
    const auto values = fit.errors.of(c);
    if (std::ranges::adjacent_find(values, is_too_steep) != values.end()) fit.converged = false;
  }
  if (std::isnan(fit.log_evidence)) fit.converged = false;
}

bool FitSolver::settles_in_band(std::size_t clocks, std::size_t knots) {
  return NewtonThresholds::usual_most_interior_steps * Curvature::work_in_band(clocks, knots) <
         NewtonThresholds::most_interior_work;
}

bool FitSolver::factorize(const Vector& v) {
  active_ = cost_.active(v);
  return curvature_.compute(cost_.fixed(), active_);
}

}  // namespace entrain::fit
