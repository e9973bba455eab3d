// SPDX-License-Identifier: BSD-3-Clause
#include "causal/fit_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/cancel.hpp"

namespace entrain::causal {

namespace {

/// Multiplications that a fit may take: about a second.
constexpr double k_most_work = 2e9;
/// Those of them that may go through the inside of the constraints.
constexpr double k_most_inside_work = 1e9;
/// Steps through the inside that a fit hardly ever exceeds.
constexpr double k_many_inside_steps = 60;
/// Relative residual at which conjugate gradients stop; the next Newton step corrects the rest.
constexpr double k_tolerance = 1e-3;
constexpr int k_most_steps = 30, k_most_rough_steps = 15;  ///< with one stiffness
/// Steps after which a descent tries another way; where the inside of the constraints is none.
constexpr int k_patience = 4, k_long_patience = 20;
/// So it does at once where a constraint is exceeded by so many times its softness.
constexpr double k_far = 64;
/// It goes on as long if each step has so many times less to gain than the one before.
constexpr double k_fast = 2;
/// Constraints that a fit begins with: missed by less than so many times the worst violation, and
/// so many times the softness.
constexpr double k_reach = 4, k_least_reach = 16;
/// AmplitudeSearch that lead there then, in shares: 10^(-n/2).
constexpr std::array<double, 5> k_stages{0.01, 0.0316227766016838, 0.1, 0.316227766016838, 1};
/// What a step must gain, as a share of the cost: with the amplitude in question, and before.
constexpr double k_exact = 1e-12, k_rough = 1e-2;
/// Errors that change faster than this, ticks per tick, are no clock's: constraints are also met by
/// squeezing all times together.
constexpr double k_steepest = 0.1;
/// A fit that is stop_early so many times over is left where the minimum is about; and also without
/// the constraints that are violated there, of those that it did not look at.
constexpr double k_clearly = 1.25, k_hopeless = 16;
/// Factors of the curvature of bends between which its share is measured, and the least number of
/// second differences that constraints determine.
constexpr double k_more_bend = 1.05, k_least_determined = 0.1;

}  // namespace

FitSolver::FitSolver(const CausalProblem& problem)
    : problem_(problem),
      cost_(problem),
      table_(problem),
      curvature_(problem.clocks, problem.knots, cost_.fixed(), cost_.constraints(), cost_.scale(),
                 problem.threads),
      selector_(table_, &curvature_.halves()),
      interior_point_(cost_, curvature_,
                      [this](const Vector& v, double margin) { activate(v, margin); }) {
  curvature_.stop_with(problem.progress);
}

CausalFit FitSolver::run(double amplitude, const ClockErrors& start, bool allow_approximate) {
  allow_approximate_ = allow_approximate;
  CausalFit fit;
  fit.amplitude = amplitude;
  if (Cancel(problem_.progress).asked()) return fit;
  curvature_.begin();
  Vector v = values_of(start);
  if (descend(v, fit)) describe(v, fit);
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

/// Looks for the minimum from `v`, which follows: among some constraints, then with those that are
/// violated there, until none is, or until they cost less than the tolerance. False if that was
/// given up; the curvature is that of `v` otherwise, without those.
bool FitSolver::descend(Vector& v, CausalFit& fit) {
  cost_.begin();
  selector_.begin();
  curvature_.set_constraints({});
  activate(v, k_reach * selector_.worst(v) + k_least_reach / cost_.scale());
  for (;;) {
    if (!descend_on_active_set(v, fit)) return fit.converged = false;
    if (!fit.converged || (fit.is_approximate && is_underresolved(v, k_hopeless))) return true;
    const double most = problem_.tolerance > 0 ? (1 + problem_.tolerance) * cost_.value(v) : 0;
    if (activate(v, 0) == 0 || cost_.value(v) < most) return true;
  }
}

/// Takes in the tightest constraints that `v` exceeds or misses by less than `margin`, ticks.
/// Returns their number.
std::size_t FitSolver::activate(const Vector& v, double margin) {
  std::vector<FitConstraint> picked;
  for (const std::uint32_t number : selector_.select(v, margin))
    picked.push_back(table_.constraint_at(number));
  cost_.add(picked);
  curvature_.set_constraints(cost_.constraints());
  return picked.size();
}

/// The same for the constraints that were taken. Lowers the amplitude if clocks as soft as that do
/// not settle.
///
/// Newton's method goes from constraint to constraint where bent clocks exceed many by far. Stiff
/// clocks exceed them anyway and are settled soon; each minimum is close to that of clocks a little
/// less stiff.
bool FitSolver::descend_on_active_set(Vector& v, CausalFit& fit) {
  fit.is_approximate = false;  // a descent before may have ended about the minimum
  cost_.set_amplitude(fit.amplitude);
  End end = End::steps;
  if (cost_.worst(v) * cost_.scale() < k_far) end = minimise(v, k_exact, k_patience, fit);
  if (end == End::steps) end = descend_by_interior_point(v, fit);
  if (end == End::steps) end = descend_by_continuation(v, fit);
  if (end == End::given_up) return false;
  fit.converged = end == End::minimum;
  return fit.converged || factorize(v);
}

/// Through the inside of the constraints, and from there to the minimum itself. `v` follows only to
/// the minimum: many clocks that hang together closely make a matrix that costs too much there.
FitSolver::End FitSolver::descend_by_interior_point(Vector& v, CausalFit& fit) {
  if (curvature_.is_clearly_costly()) return End::steps;
  Vector there = v;
  InteriorPoint::StopEarly stop_early;
  if (allow_approximate_)
    stop_early = [&](const Vector& near) { return is_underresolved(near, k_clearly); };
  const std::optional<int> steps = interior_point_.run(there, k_most_inside_work, problem_.progress,
                                                       stop_early, problem_.tolerance);
  if (!steps) return End::steps;
  fit.steps += *steps;
  fit.is_approximate = interior_point_.stopped_early();
  if (fit.is_approximate || problem_.tolerance > 0) {
    v = std::move(there);
    return factorize(v) ? End::minimum : End::given_up;
  }
  const End end = minimise(there, k_exact, k_most_steps, fit);
  if (end == End::minimum) v = std::move(there);
  return end;
}

bool FitSolver::is_underresolved(const Vector& v, double times) {
  CausalFit fit;
  fit.cost = cost_.value(v);
  fit.active = cost_.active(v).size();
  return causal::is_underresolved(fit, times);
}

FitSolver::End FitSolver::descend_by_continuation(Vector& v, CausalFit& fit) {
  const double asked = fit.amplitude;
  std::vector<std::pair<double, Vector>> stages;  // amplitudes, and about their minima
  End end = End::minimum;
  for (const double share : k_stages) {
    cost_.set_amplitude(share * asked);
    end = minimise(v, k_rough, k_most_rough_steps, fit);
    if (end != End::minimum) break;
    stages.emplace_back(share * asked, v);
  }
  for (; end != End::given_up && !stages.empty(); stages.pop_back()) {
    fit.amplitude = stages.back().first;
    v = std::move(stages.back().second);
    cost_.set_amplitude(fit.amplitude);
    end = minimise(v, k_exact, k_most_steps, fit);
    if (end == End::minimum) break;
  }
  return end;
}

/// Newton's method from `v`, which follows, until a step would lower the cost by less than the
/// share `enough`. The curvature is that of `v` then.
FitSolver::End FitSolver::minimise(Vector& v, double enough, int most_steps, CausalFit& fit) {
  const Cancel cancel(problem_.progress);
  double cost = cost_.value(v), gain = 0;
  bool is_fast = false;
  const auto has_patience = [&] {
    return is_fast || curvature_.is_iterative() || curvature_.is_clearly_costly();
  };
  for (int n = 0; n < most_steps || (n < k_long_patience && has_patience()); ++n) {
    if (cancel.asked()) return End::given_up;
    if (!factorize(v) || curvature_.work() > k_most_work) return End::given_up;
    const Vector gradient = cost_.gradient(v);
    Vector step = curvature_.solve(gradient, k_tolerance);
    for (double& x : step) x = -x;
    const double slope = inner_product(gradient, step);
    const double share =
        curvature_.is_iterative() ? std::max(enough, k_tolerance * k_tolerance) : enough;
    if (!(slope < -share * (1 + cost))) return End::minimum;
    is_fast = -slope < gain / k_fast;
    gain = -slope;
    ++fit.steps;
    Vector there = v;
    const double length = search_line(there, step, slope);
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

/// Goes along the step to the least cost, and returns the share of the step.
double FitSolver::search_line(Vector& v, const Vector& step, double slope) {
  const double length = cost_.best_length(v, step, slope);
  double furthest = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    const double move = length * step[i];
    v[i] += move;
    furthest = std::max(furthest, std::abs(move));
  }
  cost_.arrive(v, furthest);
  return length;
}

/// Fills the evidence and all that a fit says of its solution. The curvature must be that of `v`.
void FitSolver::describe(const Vector& v, CausalFit& fit) {
  const double unknowns = static_cast<double>(problem_.clocks * (problem_.knots - 2));
  fit.cost = cost_.value(v);
  fit.log_evidence =
      -fit.cost + unknowns * std::log(cost_.stiffness()) - curvature_.log_determinant() / 2;
  fit.active = active_.size();
  fit.worst_violation = cost_.worst(v);
  fit.errors = ClockErrors(problem_.begin, cost_.spacing(), problem_.knots, v);
  if (is_too_steep(fit.errors) || !std::isfinite(fit.log_evidence)) fit.converged = false;
}

FitSolver::Reestimate FitSolver::reestimate(const CausalFit& fit) {
  const double bend = cost_.stiffness() * cost_.stiffness();
  const double unknowns = static_cast<double>(problem_.clocks * (problem_.knots - 2));
  if (curvature_.is_iterative()) return {fit.amplitude, 0};
  // How much of the matrix is bends: from its determinant with some more of them.
  const double before = curvature_.log_determinant();
  if (!curvature_.compute(k_more_bend * bend, active_)) return {fit.amplitude, 0};
  const double bends = (curvature_.log_determinant() - before) / std::log(k_more_bend);
  const double determined = std::max(unknowns - bends, k_least_determined);
  return {fit.amplitude * std::sqrt(cost_.bend(fit.errors.values()) / determined), determined};
}

bool FitSolver::settles_in_band(std::size_t clocks, std::size_t knots) {
  return k_many_inside_steps * Curvature::work_in_band(clocks, knots) < k_most_inside_work;
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
  active_ = cost_.active(v);
  return curvature_.compute(cost_.stiffness() * cost_.stiffness(), active_);
}

}  // namespace entrain::causal
