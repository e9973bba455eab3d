// SPDX-License-Identifier: BSD-3-Clause
#include "fit/choose_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "base/executor.hpp"
#include "fit/clock_subset.hpp"
#include "fit/fit_solver.hpp"

namespace entrain::fit {

namespace {

/// Search of amplitude and knots. Tests: choose_fit_test.cpp; values: docs/decisions/37.
struct FitSearchThresholds {
  static constexpr std::size_t fewest_knots = 33;  ///< first number of knots, 2^n + 1
  static constexpr std::size_t most_knots = 4097;  ///< of a fit that is sampled
  /// Coupled pairs in the sample of clocks that is searched; with 45, errors grew by up to 16 %.
  static constexpr std::size_t sample_pairs = 60;
  /// Amplitudes are 10^(n/4) times the worst violation, n from `first` to `last`.
  static constexpr int first = -8, last = 12;
  static constexpr int stride = 2;  ///< first steps of searches, in n
};

CausalFit no_error(const CausalProblem& problem) {
  CausalFit fit;
  const double spacing =
      static_cast<double>(problem.end - problem.begin) / static_cast<double>(problem.knots - 1);
  fit.errors = ClockErrors(problem.begin, spacing, problem.knots,
                           std::vector<double>(problem.clocks * problem.knots, 0.0));
  fit.converged = true;
  return fit;
}

/// Interpolates errors at the knots of a problem; empty if there are none.
ClockErrors on_knots(const ClockErrors& errors, const CausalProblem& problem) {
  if (errors.knots() == 0 || errors.knots() == problem.knots) return errors;
  const double spacing =
      errors.distance(errors.knots() - 1) / static_cast<double>(problem.knots - 1);
  std::vector<double> values;
  values.reserve(problem.clocks * problem.knots);
  for (std::uint32_t c = 0; c < problem.clocks; ++c) {
    for (std::size_t k = 0; k < problem.knots; ++k)
      values.push_back(errors(c, errors.begin() + std::llround(static_cast<double>(k) * spacing)));
  }
  return {errors.begin(), spacing, problem.knots, std::move(values)};
}

/// Searches the amplitude of greatest evidence among 10^(n/4) times the worst violation, by hill
/// climbing.
class AmplitudeSearch {
 public:
  AmplitudeSearch(const CausalProblem& problem, double worst) : problem_(problem), worst_(worst) {}

  /// Starts at an approximate amplitude. `start`: errors of a fit with about this amplitude.
  CausalFit search(double amplitude, ClockErrors start) && {
    start_ = std::move(start);
    attempt(number_of(amplitude));
    if (!best_.converged) return std::move(*this).search_from_stiffest();
    // From the best amplitude to either side, over dents in the evidence; then those that strides
    // skip.
    const int first = best_at_, step = attempt_sides(Threshold::stride) * Threshold::stride;
    for (int at = first + 2 * step; step != 0 && in_range(at) && attempt(at); at += step) {
    }
    attempt_sides(1);
    return std::move(best_);
  }

  /// Starts with the stiffest clocks and raises the amplitude as long as the evidence grows.
  CausalFit search_from_stiffest() && {
    start_ = {};
    for (int at = Threshold::first, falls = 0; at <= Threshold::last && falls < 2;
         at += Threshold::stride)
      falls = attempt(at) ? 0 : falls + 1;
    if (best_.converged) attempt_sides(1);
    return std::move(best_);
  }

 private:
  using Threshold = FitSearchThresholds;

  static bool in_range(int at) { return at >= Threshold::first && at <= Threshold::last; }

  /// Fits with the amplitudes `distance` above and below the best one, on two threads if there are.
  /// Returns the side of the best one: 1 above, -1 below, 0 neither.
  int attempt_sides(int distance) {
    const std::array<int, 2> at{best_at_ + distance, best_at_ - distance};
    std::array<CausalFit, 2> fits;
    for_each_in_parallel(problem_.threads, 2, [&](std::size_t side) {
      if (in_range(at[side])) fits[side] = solver(side).run(amplitude(at[side]), best_.errors);
    });
    const bool is_above = take(std::move(fits[0]));
    return take(std::move(fits[1])) ? -1 : is_above ? 1 : 0;
  }

  /// Fits with the amplitude of number `at`, or a lower one if that does not converge. True if the
  /// evidence is the greatest so far.
  bool attempt(int at) { return take(solver(0).run(amplitude(at), start_)); }

  bool take(CausalFit fit) {
    if (!fit.converged) return false;
    start_ = fit.errors;
    if (best_.converged && fit.log_evidence <= best_.log_evidence) return false;
    best_ = std::move(fit);
    best_at_ = number_of(best_.amplitude);
    return true;
  }

  [[nodiscard]] int number_of(double amplitude) const {
    const double exponent =
        std::clamp<double>(std::log10(amplitude / worst_) * 4, Threshold::first, Threshold::last);
    return static_cast<int>(std::lround(exponent));
  }
  [[nodiscard]] double amplitude(int at) const { return worst_ * std::pow(10.0, at / 4.0); }
  FitSolver& solver(std::size_t side) {
    std::optional<FitSolver>& solver = solvers_[side];
    if (!solver) solver.emplace(problem_);
    return *solver;
  }

  const CausalProblem& problem_;
  std::array<std::optional<FitSolver>, 2> solvers_;  ///< one per thread
  double worst_;
  CausalFit best_;
  int best_at_ = 0;
  ClockErrors start_;
};

/// Returns the fit with the number of knots, 2^n + 1, and then the amplitude of greatest evidence.
/// `worst`: the violation that amplitudes are multiples of. Starts with the knots and the amplitude
/// of `before`.
CausalFit choose_knots(CausalProblem problem, double worst, std::size_t most_knots,
                       const CausalFit& before) {
  problem.knots = before.converged ? std::min(before.errors.knots(), most_knots)
                                   : FitSearchThresholds::fewest_knots;
  CausalFit best = fit_causal(problem, before.converged ? before.amplitude : worst,
                              on_knots(before.errors, problem));
  if (!best.converged) best = AmplitudeSearch(problem, worst).search_from_stiffest();
  if (!best.converged) return best;
  const auto try_knots = [&](std::size_t knots) {
    if (knots < FitSearchThresholds::fewest_knots || knots > most_knots) return false;
    CausalProblem other = problem;
    other.knots = knots;
    CausalFit fit = fit_causal(other, best.amplitude, on_knots(best.errors, other));
    if (!fit.converged || fit.log_evidence <= best.log_evidence) return false;
    problem.knots = knots;
    best = std::move(fit);
    return true;
  };
  const std::size_t first = problem.knots;
  while (try_knots(2 * problem.knots - 1)) {
  }
  while (problem.knots <= first && try_knots(problem.knots / 2 + 1)) {
  }
  return AmplitudeSearch(problem, worst).search(best.amplitude, std::move(best.errors));
}

}  // namespace

CausalFit choose_fit(CausalProblem problem, std::size_t most_knots, const CausalFit& before) {
  problem.knots = FitSearchThresholds::fewest_knots;
  double worst = 0;
  for (const ClockConstraint& constraint : problem.constraints) {
    worst = std::max(worst, -static_cast<double>(constraint.slack));
  }
  if (worst <= 0) return no_error(problem);
  const double tolerance = std::exchange(problem.tolerance, 0.0);
  const ClockSample some(problem, FitSearchThresholds::sample_pairs);
  if (!some.is_useful()) return choose_knots(problem, worst, most_knots, before);
  if (some.is_nearly_complete()) {
    // The most knots, 2^n + 1, on which a fit of all clocks stays within its budget.
    std::size_t knots = FitSearchThresholds::fewest_knots;
    while (knots < FitSearchThresholds::most_knots &&
           FitSolver::settles_in_band(problem.clocks, 2 * knots - 1)) {
      knots = 2 * knots - 1;
    }
    most_knots = std::min(most_knots, knots);
  }
  CausalFit before_some = before;
  if (before.converged) before_some.errors = some.errors(before.errors);
  const CausalFit chosen = choose_knots(some.problem(), worst, most_knots, before_some);
  if (!chosen.converged) return chosen;
  problem.knots = chosen.errors.knots();
  problem.tolerance = tolerance;
  return fit_causal(problem, chosen.amplitude, on_knots(before.errors, problem));
}

}  // namespace entrain::fit
