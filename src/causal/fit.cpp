// SPDX-License-Identifier: BSD-3-Clause
#include "causal/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>

#include <utility>

#include "base/executor.hpp"
#include "causal/clock_sample.hpp"
#include "causal/fit_solver.hpp"

namespace entrain::causal {

namespace {

/// Search of amplitude and knots. Tests: fit_test.cpp; values: docs/decisions/37.
struct FitSearchThresholds {
  static constexpr std::size_t fewest_knots = 33;  ///< first number of knots, 2^n + 1
  static constexpr std::size_t most_knots = 4097;  ///< bound of knots_within_budget()
  /// Coupled pairs in the sample of clocks that is searched; with 45, errors grew by up to 16 %.
  static constexpr std::size_t sample_pairs = 60;
  /// Amplitudes are 10^(n/4) times the worst violation, n from `first` to `last`.
  static constexpr int first = -8, last = 12;
  static constexpr int stride = 2;     ///< first step of the hill climb, in n
  static constexpr int most_jump = 4;  ///< largest step to a re-estimated amplitude, in n
  /// Well-determined second differences above which re-estimates replace the hill climb. With
  /// fewer, each constraint that becomes inactive makes a step in the evidence: up to 13 % error.
  static constexpr double many_determined = 200;
  /// Loss of log evidence at which a number of knots is dropped without a search of its amplitude.
  /// Neighbouring amplitudes differ by less near the maximum. Chosen, not measured.
  static constexpr double hopeless_loss = 20;
  /// Gain of log evidence over half the knots at which the next round does not try half of them.
  static constexpr double clear_gain = 1e4;
  /// Error in units of sigma beyond which the fit of all clocks starts from the extended sample.
  /// Chosen, not measured.
  static constexpr double far = 64;
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
  const std::size_t knots = problem.knots;
  const double spacing = errors.distance(errors.knots() - 1) / static_cast<double>(knots - 1);
  const double step = spacing / errors.spacing();
  std::vector<double> values;
  values.reserve(problem.clocks * knots);
  for (std::uint32_t c = 0; c < problem.clocks; ++c) {
    const auto known = errors.of(c);
    for (std::size_t k = 0; k < knots; ++k) {
      const double x = static_cast<double>(k) * step;
      const std::size_t low = std::min(static_cast<std::size_t>(x), errors.knots() - 2);
      const double share = x - static_cast<double>(low);
      values.push_back((1 - share) * known[low] + share * known[low + 1]);
    }
  }
  return {errors.begin(), spacing, knots, std::move(values)};
}

/// Searches the amplitude of greatest evidence among 10^(n/4) times the worst violation.
///
/// If constraints determine many second differences, a fit yields a better amplitude
/// (FitSolver::reestimate()), and a few fits are enough. If they determine few, the evidence has a
/// step wherever a constraint becomes inactive, and a hill climb tries amplitudes one by one.
class AmplitudeSearch {
 public:
  /// `allow_approximate`: stops at the first amplitude if the fit is underresolved, since more
  /// knots will replace it.
  AmplitudeSearch(const CausalProblem& problem, double worst, bool allow_approximate)
      : problem_(problem), worst_(worst), allow_approximate_(allow_approximate) {}

  /// The best fit, and the re-estimate of its amplitude.
  struct Found {
    CausalFit fit;
    FitSolver::Reestimate reestimate;
  };

  /// Starts at an amplitude of the worst violation.
  Found search() && {
    if (!attempt(0)) return std::move(*this).search_from_stiffest();
    if (!is_settled()) {
      hill_climb(Threshold::stride);
      try_neighbours();
    }
    return std::move(*this).found();
  }

  /// Continues from an underresolved fit of a search with `allow_approximate`.
  Found resume(Found underresolved) && {
    start_ = underresolved.fit.errors;
    best_at_ = number_of(underresolved.fit.amplitude);
    best_ = std::move(underresolved.fit);
    reestimate_ = underresolved.reestimate;
    if (!is_settled()) {
      refine_best();
      hill_climb(1);
    }
    refine_best();
    return std::move(*this).found();
  }

  /// Starts at an approximate amplitude. `start`: errors of a fit with about this amplitude. Stops
  /// there if the evidence is below `hopeless`.
  Found search_from(double amplitude, ClockErrors start, double hopeless) && {
    start_ = std::move(start);
    attempt(number_of(amplitude));
    if (!best_.converged) return std::move(*this).search_from_stiffest();
    if (best_.log_evidence >= hopeless && !is_settled()) hill_climb(1);
    return std::move(*this).found();
  }

 private:
  using Threshold = FitSearchThresholds;

  /// Starts with the stiffest clocks and raises the amplitude as long as the evidence grows.
  Found search_from_stiffest() && {
    start_ = {};
    allow_approximate_ = false;
    for (int at = Threshold::first, falls = 0; at <= Threshold::last && falls < 2;
         at += Threshold::stride)
      falls = attempt(at) ? 0 : falls + 1;
    if (best_.converged) try_neighbours();
    return std::move(*this).found();
  }

  Found found() && { return {std::move(best_), reestimate_}; }

  /// Computes the exact minimum if the best fit is approximate.
  void refine_best() {
    if (!best_.is_approximate) return;
    best_.converged = false;
    attempt(best_at_);
  }

  /// True if no other amplitude has to be tried.
  bool is_settled() {
    if (allow_approximate_ && is_underresolved(best_)) return true;
    if (reestimate_.determined < Threshold::many_determined) return false;
    follow_reestimates();
    return true;
  }

  /// Follows re-estimates until the amplitude stays; halves the step after each overshoot.
  void follow_reestimates() {
    int most = Threshold::most_jump;
    while (most > 0) {
      const int wanted = best_at_ + steps_between(best_.amplitude, reestimate_.amplitude);
      const int at = std::clamp(std::clamp(wanted, best_at_ - most, best_at_ + most),
                                Threshold::first, Threshold::last);
      if (at == best_at_) return;
      if (!attempt(at)) most = std::abs(at - best_at_) / 2;
    }
  }

  /// Climbs from the best amplitude to either side. Stops at once if softer clocks hardly meet more
  /// constraints: then knots are too few.
  void hill_climb(int stride) {
    const int first = best_at_;
    const double cost = best_.cost;
    const bool underresolved = is_underresolved(best_);
    const int side = attempt_sides(stride, false);
    if (side == 0 || (underresolved && best_.cost > cost / 2)) return;
    for (int at = first + 2 * side * stride; in_range(at) && attempt(at); at += side * stride) {
    }
  }

  /// Tries the amplitudes that strides left out.
  void try_neighbours() { attempt_sides(1, true); }

  static bool in_range(int at) { return at >= Threshold::first && at <= Threshold::last; }

  /// Fits with the amplitudes `distance` above and below the best one, on two threads if there are.
  /// With one thread the lower one only if the upper one is no better, or if `both` are wanted.
  /// Returns the side of the best one: 1 above, -1 below, 0 neither.
  int attempt_sides(int distance, bool both) {
    const int middle = best_at_;
    const ClockErrors start = best_.errors;
    const std::array<int, 2> at{middle + distance, middle - distance};
    std::array<CausalFit, 2> fits;
    const auto fit = [&](std::size_t side) {
      if (in_range(at[side])) fits[side] = solver(side).run(amplitude(at[side]), start);
    };
    if (problem_.threads == 1) {
      fit(0);
    } else {
      for_each_in_parallel(problem_.threads, 2, fit);
    }
    const bool is_above = take(at[0], std::move(fits[0]));
    if (is_above && !both) return 1;
    if (problem_.threads == 1) fit(1);
    if (take(at[1], std::move(fits[1]))) return -1;
    return is_above ? 1 : 0;
  }

  /// Fits with the amplitude of number `at`, or a lower one if that does not converge. True if the
  /// evidence is the greatest so far.
  bool attempt(int at) {
    CausalFit fit = solver(0).run(amplitude(at), start_, allow_approximate_);
    const bool converged = fit.converged;
    if (!take(at, std::move(fit))) return false;
    if (converged) reestimate_ = solver(0).reestimate(best_);
    return true;
  }

  bool take(int at, CausalFit fit) {
    if (!fit.converged) return false;
    at += steps_between(amplitude(at), fit.amplitude);
    start_ = fit.errors;
    const bool better = !best_.converged || fit.log_evidence > best_.log_evidence;
    if (better) {
      best_ = std::move(fit);
      best_at_ = at;
    }
    return better;
  }

  [[nodiscard]] int number_of(double amplitude) const {
    const double exponent =
        std::clamp<double>(std::log10(amplitude / worst_) * 4, Threshold::first, Threshold::last);
    return static_cast<int>(std::lround(exponent));
  }
  [[nodiscard]] double amplitude(int at) const { return worst_ * std::pow(10.0, at / 4.0); }
  [[nodiscard]] static int steps_between(double from, double to) {
    return static_cast<int>(std::lround(std::clamp(std::log10(to / from) * 4, -40.0, 40.0)));
  }
  FitSolver& solver(std::size_t side) {
    std::optional<FitSolver>& solver = solvers_[side];
    if (!solver) solver.emplace(problem_);
    return *solver;
  }

  const CausalProblem& problem_;
  std::array<std::optional<FitSolver>, 2> solvers_;  ///< one per thread
  double worst_;
  bool allow_approximate_;
  CausalFit best_;
  int best_at_ = 0;
  FitSolver::Reestimate reestimate_;  ///< re-estimate of the best fit
  ClockErrors start_;
};

/// Searches the number of knots, 2^n + 1, of greatest evidence.
class KnotSearch {
 public:
  KnotSearch(CausalProblem problem, double worst) : problem_(problem), worst_(worst) {}

  /// Fits with so many knots, starting from the amplitude of the best fit, or of the worst
  /// violation if there is none. True if the evidence is the greatest so far.
  bool attempt(std::size_t knots) {
    problem_.knots = knots;
    AmplitudeSearch amplitudes(problem_, worst_, true);
    AmplitudeSearch::Found found =
        best.converged
            ? std::move(amplitudes)
                  .search_from(best.amplitude, on_knots(best.errors, problem_),
                               best_is_this_problems_
                                   ? best.log_evidence - FitSearchThresholds::hopeless_loss
                                   : k_no_evidence)
            : std::move(amplitudes).search();
    if (!found.fit.converged) return false;
    const bool better = !best_is_this_problems_ || found.fit.log_evidence > best.log_evidence;
    if (better) take(std::move(found));
    best_is_this_problems_ = true;
    return better;
  }

  /// Finds the amplitude of an underresolved best fit. Takes fewer knots if no fit converges: an
  /// approximate fit may have more knots than the budget of an exact one allows.
  void finish() {
    if (!best_is_this_problems_ || !is_underresolved(best)) return;
    problem_.knots = best.errors.knots();
    CausalFit found = AmplitudeSearch(problem_, worst_, false).resume({best, reestimate_}).fit;
    found.gain = best.gain;
    while (!found.converged && problem_.knots > FitSearchThresholds::fewest_knots) {
      problem_.knots = problem_.knots / 2 + 1;
      found = AmplitudeSearch(problem_, worst_, false)
                  .search_from(best.amplitude, on_knots(best.errors, problem_), k_no_evidence)
                  .fit;
    }
    best = std::move(found);
  }

  CausalFit best;

 private:
  void take(AmplitudeSearch::Found found) {
    const bool half = best_is_this_problems_ && best.errors.knots() < found.fit.errors.knots();
    found.fit.gain = half ? found.fit.log_evidence - best.log_evidence : 0;
    best = std::move(found.fit);
    reestimate_ = found.reestimate;
  }

  static constexpr double k_no_evidence = -std::numeric_limits<double>::infinity();

  CausalProblem problem_;
  double worst_;
  bool best_is_this_problems_ = false;
  FitSolver::Reestimate reestimate_;  ///< re-estimate of the best fit
};

/// True if the fit of all clocks should start from the errors of the sample and not from 0.
bool is_far_from_zero(const CausalFit& fit, double sigma) {
  const auto values = fit.errors.values();
  return std::any_of(values.begin(), values.end(), [&](double error) {
    return std::abs(error) > FitSearchThresholds::far * sigma;
  });
}

/// Returns the fit of greatest evidence. `worst`: the violation that amplitudes are multiples of.
CausalFit choose_among_all(const CausalProblem& problem, double worst, std::size_t most_knots,
                           const CausalFit& before) {
  KnotSearch search(problem, worst);
  search.best = before;
  const std::size_t first =
      before.converged
          ? std::clamp(before.errors.knots(), FitSearchThresholds::fewest_knots, most_knots)
          : FitSearchThresholds::fewest_knots;
  search.attempt(first);
  std::size_t knots = 2 * first - 1;
  while (knots <= most_knots && search.attempt(knots)) knots = 2 * knots - 1;
  if (knots == 2 * first - 1 && before.gain < FitSearchThresholds::clear_gain) {
    knots = first / 2 + 1;
    while (knots >= FitSearchThresholds::fewest_knots && search.attempt(knots))
      knots = knots / 2 + 1;
  }
  search.finish();
  return std::move(search.best);
}

/// Returns the most knots, 2^n + 1, on which a fit of so many clocks, all coupled, stays within its
/// budget.
std::size_t knots_within_budget(std::size_t clocks) {
  std::size_t knots = FitSearchThresholds::fewest_knots;
  while (knots < FitSearchThresholds::most_knots &&
         FitSolver::settles_in_band(clocks, 2 * knots - 1)) {
    knots = 2 * knots - 1;
  }
  return knots;
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
  if (!some.is_useful()) return choose_among_all(problem, worst, most_knots, before);
  if (some.is_nearly_complete())
    most_knots = std::min(most_knots, knots_within_budget(problem.clocks));
  CausalFit before_some = before;
  if (before.converged) before_some.errors = some.errors(before.errors);
  const CausalFit chosen = choose_among_all(some.problem(), worst, most_knots, before_some);
  if (!chosen.converged) return chosen;
  problem.knots = chosen.errors.knots();
  problem.tolerance = tolerance;
  ClockErrors start = on_knots(before.errors, problem);
  if (!before.converged && is_far_from_zero(chosen, problem.sigma)) start = some.extend(chosen);
  CausalFit fit = fit_causal(problem, chosen.amplitude, start);
  fit.gain = chosen.gain;
  return fit;
}

}  // namespace entrain::causal
