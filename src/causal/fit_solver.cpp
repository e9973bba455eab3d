// SPDX-License-Identifier: BSD-3-Clause
#include "causal/fit_solver.hpp"

#include <algorithm>
#include <cmath>

#include "base/cancel.hpp"

namespace entrain::causal {

namespace {

/// Multiplications that all fits of one solver may take together: some seconds.
constexpr double k_most_work = 2e9;
/// Relative residual at which conjugate gradients stop; the next Newton step corrects the rest.
constexpr double k_tolerance = 1e-3;
constexpr int k_most_steps = 60;
/// Errors that change faster than this, ticks per tick, are no clock's: constraints are also met by
/// squeezing all times together.
constexpr double k_steepest = 0.1;

std::vector<double> moved(const std::vector<double>& v, double length,
                          const std::vector<double>& step) {
  std::vector<double> sum(v.size());
  for (std::size_t i = 0; i < v.size(); ++i) sum[i] = v[i] + length * step[i];
  return sum;
}

}  // namespace

FitSolver::FitSolver(const CausalProblem& problem)
    : problem_(problem),
      cost_(problem),
      curvature_(problem.clocks, problem.knots, cost_.fixed(), cost_.limits(), cost_.scale()) {}

CausalFit FitSolver::run(double amplitude, const ClockErrors& start) {
  CausalFit fit;
  fit.amplitude = amplitude;
  cost_.set_amplitude(amplitude);
  Vector v = values_of(start);
  double cost = cost_.value(v);
  if (descend(v, cost, fit) && factorize(v)) describe(v, cost, fit);
  return fit;
}

/// The unknowns to begin with; 0 if `start` has other knots.
FitSolver::Vector FitSolver::values_of(const ClockErrors& start) const {
  Vector v(cost_.size(), 0.0);
  if (start.knots() != problem_.knots) return v;
  for (std::uint32_t c = 0; c < problem_.clocks; ++c) {
    const auto values = start.of(c);
    for (std::size_t k = 0; k < values.size(); ++k) v[c * problem_.knots + k] = values[k];
  }
  return v;
}

/// Newton's method from `v`, whose cost is `cost`; both follow. False if it was given up.
bool FitSolver::descend(Vector& v, double& cost, CausalFit& fit) {
  const Cancel cancel(problem_.progress);
  while (fit.steps < k_most_steps) {
    if (cancel.asked()) return false;
    if (!factorize(v) || curvature_.work() > k_most_work) return false;
    const Vector gradient = cost_.gradient(v);
    Vector step = curvature_.solve(gradient, k_tolerance);
    for (double& x : step) x = -x;
    const double slope = inner_product(gradient, step);
    const double enough = curvature_.is_iterative() ? k_tolerance * k_tolerance : 1e-12;
    if (!(slope < -enough * (1 + cost))) {
      fit.converged = true;
      break;
    }
    ++fit.steps;
    const std::optional<double> next = search_line(v, step, slope, cost);
    if (!next) {
      fit.converged = true;
      break;
    }
    cost = *next;
  }
  return true;
}

/// Halves the step until the cost falls enough (Armijo), then goes there and returns its cost.
/// Nothing, and `v` as before, if no step lowers the cost.
std::optional<double> FitSolver::search_line(Vector& v, const Vector& step, double slope,
                                             double cost) {
  double length = 1;
  Vector there = moved(v, length, step);
  double next = cost_.value(there);
  while (next > cost + 1e-4 * length * slope && length > 1e-6) {
    length /= 2;
    there = moved(v, length, step);
    next = cost_.value(there);
  }
  if (!(next < cost)) return std::nullopt;
  v = std::move(there);
  double furthest = 0;
  for (const double x : step) furthest = std::max(furthest, std::abs(x));
  cost_.arrive(v, length * furthest);
  return next;
}

/// Fills the evidence and all that a fit says of its solution. The curvature must be that of `v`.
void FitSolver::describe(const Vector& v, double cost, CausalFit& fit) {
  const double unknowns = static_cast<double>(problem_.clocks * (problem_.knots - 2));
  fit.log_evidence =
      -cost + unknowns * std::log(cost_.stiffness()) - curvature_.log_determinant() / 2;
  const std::vector<std::uint32_t> active = cost_.active(v);
  fit.active = active.size();
  for (const std::uint32_t i : active)
    fit.worst_violation = std::max(fit.worst_violation, cost_.limits()[i].over(v));
  fit.errors = ClockErrors(problem_.begin, cost_.spacing(), problem_.knots, v);
  if (is_too_steep(fit.errors) || !std::isfinite(fit.log_evidence)) fit.converged = false;
}

bool FitSolver::is_too_steep(const ClockErrors& errors) const {
  for (std::uint32_t c = 0; c < problem_.clocks; ++c) {
    const auto values = errors.of(c);
    for (std::size_t k = 1; k < values.size(); ++k) {
      if (std::abs(values[k] - values[k - 1]) > k_steepest * cost_.spacing()) return true;
    }
  }
  return false;
}

bool FitSolver::factorize(const Vector& v) {
  return curvature_.compute(cost_.stiffness() * cost_.stiffness(), cost_.active(v));
}

}  // namespace entrain::causal
