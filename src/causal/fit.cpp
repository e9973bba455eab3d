// SPDX-License-Identifier: BSD-3-Clause
#include "causal/fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "causal/fit_solver.hpp"

namespace entrain::causal {

CausalFit fit_causal(const CausalProblem& problem, double amplitude, const ClockErrors& start) {
  return FitSolver(problem).run(amplitude, start);
}

namespace {

CausalFit no_error(const CausalProblem& problem) {
  CausalFit fit;
  const double spacing =
      static_cast<double>(problem.end - problem.begin) / static_cast<double>(problem.knots - 1);
  fit.errors = ClockErrors(problem.begin, spacing, problem.knots,
                           std::vector<double>(problem.clocks * problem.knots, 0.0));
  fit.converged = true;
  return fit;
}

/// The same errors on twice as many knots.
ClockErrors refined(const ClockErrors& errors, const CausalProblem& problem) {
  const std::size_t knots = 2 * errors.knots() - 1;
  std::vector<double> values;
  values.reserve(problem.clocks * knots);
  for (std::uint32_t c = 0; c < problem.clocks; ++c) {
    const auto coarse = errors.of(c);
    for (std::size_t k = 0; k < knots; ++k)
      values.push_back((coarse[k / 2] + coarse[(k + 1) / 2]) / 2);
  }
  return {errors.begin(), errors.distance(1) / 2, knots, std::move(values)};
}

/// Searches the likeliest amplitude among 10^(n/4) times the worst violation.
class Amplitudes {
 public:
  Amplitudes(const CausalProblem& problem, double worst) : solver_(problem), worst_(worst) {}

  /// Begins with the stiffest clocks and goes on as long as the evidence grows.
  CausalFit scan() && {
    constexpr int k_stride = 2;
    for (int at = k_first, falls = 0; at <= k_last && falls < 2; at += k_stride)
      falls = attempt(at) ? 0 : falls + 1;
    if (!best_.converged) return std::move(best_);
    const int middle = best_at_;
    for (const int at : {middle - 1, middle + 1}) {
      start_ = best_.errors;
      attempt(at);
    }
    return std::move(best_);
  }

  /// Goes uphill from an amplitude that is about right; `start`: errors of a fit with about this
  /// amplitude.
  CausalFit climb(double amplitude, ClockErrors start) && {
    start_ = std::move(start);
    const double exponent = std::clamp<double>(std::log10(amplitude / worst_) * 4, k_first, k_last);
    const int first = static_cast<int>(std::lround(exponent));
    if (!attempt(first)) {
      start_ = {};
      return std::move(*this).scan();
    }
    for (const int way : {1, -1}) {
      for (int at = first + way; at >= k_first && at <= k_last && attempt(at); at += way) {
      }
      start_ = best_.errors;
      if (best_at_ != first) break;
    }
    return std::move(best_);
  }

 private:
  static constexpr int k_first = -8, k_last = 12;

  /// Fits with the amplitude of number `at`. True if that is better than all others.
  bool attempt(int at) {
    CausalFit fit = solver_.run(worst_ * std::pow(10.0, at / 4.0), start_);
    if (!fit.converged) return false;
    start_ = fit.errors;
    const bool better = !best_.converged || fit.log_evidence > best_.log_evidence;
    if (better) {
      best_ = std::move(fit);
      best_at_ = at;
    }
    return better;
  }

  FitSolver solver_;
  double worst_;
  CausalFit best_;
  int best_at_ = 0;
  ClockErrors start_;
};

}  // namespace

CausalFit choose_fit(CausalProblem problem, std::size_t most_knots, double amplitude) {
  constexpr std::size_t k_fewest_knots = 33;
  problem.knots = k_fewest_knots;
  double worst = 0;
  for (const ClockConstraint& constraint : problem.constraints) {
    worst = std::max(worst, -static_cast<double>(constraint.slack));
  }
  if (worst <= 0) return no_error(problem);
  CausalFit best = amplitude > 0 ? Amplitudes(problem, worst).climb(amplitude, {})
                                 : Amplitudes(problem, worst).scan();
  for (std::size_t knots = 2 * k_fewest_knots - 1; knots <= most_knots; knots = 2 * knots - 1) {
    problem.knots = knots;
    CausalFit finer =
        best.converged
            ? Amplitudes(problem, worst).climb(best.amplitude, refined(best.errors, problem))
            : Amplitudes(problem, worst).scan();
    if (!finer.converged) break;
    const bool better = !best.converged || finer.log_evidence > best.log_evidence;
    if (!better) break;
    best = std::move(finer);
  }
  return best;
}

}  // namespace entrain::causal
