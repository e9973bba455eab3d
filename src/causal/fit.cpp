// SPDX-License-Identifier: BSD-3-Clause
#include "causal/fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>

#include "causal/curvature.hpp"

namespace entrain::causal {

namespace {

using Vector = Eigen::VectorXd;
using Row = CausalRow;
using Term = CausalTerm;

/// Multiplications that all fits of one number of knots may take, seconds of them; one that needs
/// more has not settled.
constexpr double k_most_work = 2e9;
/// Of a step that is not computed exactly; what is left of it the next step sees to.
constexpr double k_tolerance = 1e-3;

class Solver {
 public:
  explicit Solver(const CausalProblem& problem)
      : problem_(problem),
        span_(static_cast<double>(problem.end - problem.begin)),
        spacing_(span_ / static_cast<double>(problem.knots - 1)),
        size_(static_cast<Eigen::Index>(problem.clocks * problem.knots)) {
    for (const CausalBound& bound : problem.bounds) {
      Term term;
      append(term.row, bound.to, bound.to_time, 1);
      append(term.row, bound.from, bound.from_time, -1);
      term.limit = static_cast<double>(bound.slack) - problem.latency;
      term.scale = 1 / problem.sigma;
      bounds_.push_back(term);
    }
    for (const SessionBound& session : problem.sessions) {
      Term term;
      append(term.row, session.clock, session.time, 1);
      term.scale = 1 / session.half_width;
      fixed_.push_back(term);
    }
    // Where nothing is known of a clock's offset and rate, the fit shall not fail: a prior so wide
    // that it tells nothing.
    double worst = problem.sigma;
    for (const CausalBound& bound : problem.bounds) {
      worst = std::max(worst, -static_cast<double>(bound.slack));
    }
    for (std::uint32_t c = 0; c < problem.clocks; ++c) {
      for (const std::int64_t end : {problem.begin, problem.end}) {
        Term term;
        append(term.row, c, end, 1);
        term.scale = 1 / (1e4 * worst);
        fixed_.push_back(term);
      }
    }
    curvature_.emplace(problem.clocks, problem.knots, fixed_, bounds_);
  }

  Solver(const Solver&) = delete;
  Solver& operator=(const Solver&) = delete;

  CausalFit run(double amplitude, const ClockErrors& start) {
    CausalFit fit;
    fit.amplitude = amplitude;
    // lambda int e''^2 = lambda / W^3 sum (second differences)^2
    const double lambda = span_ * span_ * span_ / (12 * amplitude * amplitude);
    bend_ = std::sqrt(lambda / (spacing_ * spacing_ * spacing_));
    Vector v = Vector::Zero(size_);
    if (start.knots() == problem_.knots) {
      for (std::uint32_t c = 0; c < problem_.clocks; ++c) {
        const auto values = start.of(c);
        for (std::size_t k = 0; k < values.size(); ++k) {
          v[static_cast<Eigen::Index>(c * problem_.knots + k)] = values[k];
        }
      }
    }
    double cost = cost_of(v);
    constexpr int k_most_steps = 60;
    while (fit.steps < k_most_steps) {
      if (problem_.progress != nullptr && problem_.progress->cancelled()) return fit;
      if (!factorize(v) || curvature_->work() > k_most_work) return fit;
      const Vector gradient = gradient_of(v);
      const Vector step = -curvature_->solve(gradient, k_tolerance);
      const double slope = gradient.dot(step);
      const double enough = curvature_->is_iterative() ? k_tolerance * k_tolerance : 1e-12;
      if (!(slope < -enough * (1 + cost))) {
        fit.converged = true;
        break;
      }
      ++fit.steps;
      double length = 1;
      double next = cost_of(v + step);
      while (next > cost + 1e-4 * length * slope && length > 1e-6) {
        length /= 2;
        next = cost_of(v + length * step);
      }
      if (!(next < cost)) {
        fit.converged = true;
        break;
      }
      v += length * step;
      cost = next;
    }
    if (!factorize(v)) return fit;
    const double unknowns = static_cast<double>(problem_.clocks * (problem_.knots - 2));
    fit.log_evidence = -cost + unknowns * std::log(bend_) - curvature_->log_determinant() / 2;
    for (const Term& term : bounds_) {
      const double over = term.row.value(v) - term.limit;
      fit.active += over > 0 ? 1 : 0;
      fit.worst_violation = std::max(fit.worst_violation, over);
    }
    fit.errors = ClockErrors(problem_.begin, spacing_, problem_.knots,
                             std::vector<double>(v.data(), v.data() + v.size()));
    // Bounds are also met by squeezing all times together, which no clock does.
    constexpr double k_steepest = 0.1;
    for (std::uint32_t c = 0; c < problem_.clocks; ++c) {
      const auto values = fit.errors.of(c);
      for (std::size_t k = 1; k < values.size(); ++k) {
        if (std::abs(values[k] - values[k - 1]) > k_steepest * spacing_) fit.converged = false;
      }
    }
    if (!std::isfinite(fit.log_evidence)) fit.converged = false;
    return fit;
  }

 private:
  void append(Row& row, std::uint32_t clock, std::int64_t time, double weight) const {
    const double x = static_cast<double>(time - problem_.begin) / spacing_;
    const double last = static_cast<double>(problem_.knots - 2);
    const double piece = std::clamp(std::floor(x), 0.0, last);
    const auto index =
        static_cast<Eigen::Index>(clock * problem_.knots) + static_cast<Eigen::Index>(piece);
    row.add(index, weight * (1 - (x - piece)));
    row.add(index + 1, weight * (x - piece));
  }

  template <class Body>
  void for_bends(Body body) const {
    for (std::size_t c = 0; c < problem_.clocks; ++c) {
      const auto first = static_cast<Eigen::Index>(c * problem_.knots);
      for (std::size_t k = 1; k + 1 < problem_.knots; ++k)
        body(first + static_cast<Eigen::Index>(k));
    }
  }
  static double bend(const Vector& v, Eigen::Index i) { return v[i - 1] - 2 * v[i] + v[i + 1]; }

  [[nodiscard]] double cost_of(const Vector& v) const {
    double cost = 0;
    for_bends([&](Eigen::Index i) { cost += bend_ * bend_ * bend(v, i) * bend(v, i); });
    for (const Term& term : fixed_) {
      const double r = term.scale * term.row.value(v);
      cost += r * r;
    }
    for (const Term& term : bounds_) {
      const double r = term.scale * std::max(0.0, term.row.value(v) - term.limit);
      cost += r * r;
    }
    return cost / 2;
  }

  [[nodiscard]] Vector gradient_of(const Vector& v) const {
    Vector gradient = Vector::Zero(size_);
    for_bends([&](Eigen::Index i) {
      const double r = bend_ * bend_ * bend(v, i);
      gradient[i - 1] += r;
      gradient[i] -= 2 * r;
      gradient[i + 1] += r;
    });
    const auto add = [&](const Term& term, double over) {
      const double r = term.scale * term.scale * over;
      for (std::size_t k = 0; k < term.row.count; ++k) {
        gradient[term.row.at[k]] += r * term.row.weight[k];
      }
    };
    for (const Term& term : fixed_) add(term, term.row.value(v));
    for (const Term& term : bounds_) {
      const double over = term.row.value(v) - term.limit;
      if (over > 0) add(term, over);
    }
    return gradient;
  }

  bool factorize(const Vector& v) {
    std::vector<bool> active;
    active.reserve(bounds_.size());
    for (const Term& term : bounds_) active.push_back(term.row.value(v) > term.limit);
    return curvature_->compute(bend_ * bend_, active);
  }

  const CausalProblem& problem_;
  double span_;
  double spacing_;
  Eigen::Index size_;
  double bend_ = 1;
  std::vector<Term> bounds_, fixed_;
  std::optional<Curvature> curvature_;
};

}  // namespace

double ClockErrors::operator()(std::uint32_t clock, std::int64_t time) const {
  const double x = static_cast<double>(time - begin_) / spacing_;
  const double piece = std::clamp(std::floor(x), 0.0, static_cast<double>(knots_ - 2));
  const auto k = static_cast<std::size_t>(piece);
  const auto values = of(clock);
  return values[k] + (x - piece) * (values[k + 1] - values[k]);
}

CausalFit fit_causal(const CausalProblem& problem, double amplitude, const ClockErrors& start) {
  return Solver(problem).run(amplitude, start);
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

/// The errors on twice the knots.
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

/// Looks for the likeliest amplitude of 10^(n/4) times the worst violation.
class Amplitudes {
 public:
  Amplitudes(const CausalProblem& problem, double worst) : solver_(problem), worst_(worst) {}

  /// From the stiffest clocks on, as long as it gets better.
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

  /// Uphill from an amplitude that is about right; the errors are those of about this one.
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

  /// True if it is better than all others.
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

  Solver solver_;
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
  for (const CausalBound& bound : problem.bounds) {
    worst = std::max(worst, -static_cast<double>(bound.slack));
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

double latency_scale(std::span<const CausalBound> bounds, std::int64_t begin, std::int64_t width,
                     const ClockErrors* errors) {
  struct Directed {
    std::uint32_t low, high;
    std::int64_t window;
    bool up;
    double slack;
  };
  std::vector<Directed> directed;
  for (const CausalBound& bound : bounds) {
    double slack = static_cast<double>(bound.slack);
    if (errors != nullptr) {
      slack += (*errors)(bound.from, bound.from_time) - (*errors)(bound.to, bound.to_time);
    }
    const auto [low, high] = std::minmax(bound.from, bound.to);
    directed.push_back({low, high, (bound.to_time - begin) / width, bound.from == low, slack});
  }
  std::sort(directed.begin(), directed.end(), [](const Directed& a, const Directed& b) {
    return std::tie(a.low, a.high, a.window, a.up, a.slack) <
           std::tie(b.low, b.high, b.window, b.up, b.slack);
  });
  // The tightest one of each direction; those of both directions are neighbours then.
  directed.erase(std::unique(directed.begin(), directed.end(),
                             [](const Directed& a, const Directed& b) {
                               return std::tie(a.low, a.high, a.window, a.up) ==
                                      std::tie(b.low, b.high, b.window, b.up);
                             }),
                 directed.end());
  double shortest = std::numeric_limits<double>::max();
  for (std::size_t i = 1; i < directed.size(); ++i) {
    const Directed &a = directed[i - 1], &b = directed[i];
    if (std::tie(a.low, a.high, a.window) != std::tie(b.low, b.high, b.window)) continue;
    // Below a tick per way the clocks bend within the window, and the sum tells nothing.
    if (a.slack + b.slack >= 4) shortest = std::min(shortest, a.slack + b.slack);
  }
  return shortest == std::numeric_limits<double>::max() ? 1 : shortest / 4;
}

}  // namespace entrain::causal
