// SPDX-License-Identifier: BSD-3-Clause
#include "fit/fit_cost.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace entrain::fit {

namespace {

/// The line search ends when the slope is below this share of the initial one. Chosen, not
/// measured.
constexpr double k_flat = 1e-3;
constexpr int k_most_lengths = 50;  ///< line search steps

Eigen::Map<const Eigen::VectorXd> as_vector(std::span<const double> v) {
  return {v.data(), static_cast<Eigen::Index>(v.size())};
}

/// Derivatives along a step of the sum of max(0, over + length * change)^2 / 2.
struct Derivatives {
  double first = 0, second = 0;
};

Derivatives derivatives_at(double length, std::span<const double> over,
                           std::span<const double> change) {
  Derivatives sum;
  for (std::size_t i = 0; i < over.size(); ++i) {
    const double there = over[i] + length * change[i];
    const double moved = there > 0 ? change[i] : 0.0;
    sum.first += moved * there;
    sum.second += moved * moved;
  }
  return sum;
}

}  // namespace

FitCost::FitCost(const CausalProblem& problem)
    : problem_(problem),
      span_(static_cast<double>(problem.end - problem.begin)),
      spacing_(span_ / static_cast<double>(problem.knots - 1)),
      places_(problem) {
  for (const SessionConstraint& session : problem_.sessions)
    add_term(session.clock, session.time, session.half_width);
  double worst = problem_.sigma;
  for (const ClockConstraint& constraint : problem_.constraints)
    worst = std::max(worst, -static_cast<double>(constraint.slack));
  // A prior on offset and rate makes the fit well-posed where nothing is known of a clock.
  constexpr double k_vague = 1e4;  // its half-width in units of the worst violation
  for (std::uint32_t c = 0; c < problem_.clocks; ++c) {
    for (const std::int64_t end : {problem_.begin, problem_.end}) add_term(c, end, k_vague * worst);
  }
}

/// Adds the term (e(time) / half_width)^2.
void FitCost::add_term(std::uint32_t clock, std::int64_t time, double half_width) {
  const KnotPlace place = places_(clock, time);
  const std::array row{FitConstraint::Weight{place.at, 1 - place.share},
                       FitConstraint::Weight{place.at + 1, place.share}};
  add_square(row, 1 / (half_width * half_width), terms_);
}

void FitCost::set_amplitude(double amplitude) {
  // lambda int e''^2 = lambda / spacing^3 sum (second differences)^2
  const double lambda = span_ * span_ * span_ / (12 * amplitude * amplitude);
  stiffness_ = std::sqrt(lambda / (spacing_ * spacing_ * spacing_));
  FitEntries entries = terms_;
  for (std::size_t i = 0; i + 2 < size(); ++i) {
    if (i % problem_.knots + 2 >= problem_.knots) continue;
    const auto at = static_cast<std::uint32_t>(i);
    const std::array<FitConstraint::Weight, 3> row{{{at, 1}, {at + 1, -2}, {at + 2, 1}}};
    add_square(row, stiffness_ * stiffness_, entries);
  }
  const auto unknowns = static_cast<Eigen::Index>(size());
  fixed_.resize(unknowns, unknowns);
  fixed_.setFromTriplets(entries.begin(), entries.end());
}

double FitCost::value(std::span<const double> v) const {
  const std::vector<double> force = fixed_gradient(v);
  double cost = as_vector(v).dot(as_vector(force));
  for (const FitConstraint& constraint : constraints_) {
    const double r = scale() * std::max(0.0, constraint.excess(v));
    cost += r * r;
  }
  return cost / 2;
}

std::vector<double> FitCost::fixed_gradient(std::span<const double> v) const {
  std::vector<double> gradient(size());
  Eigen::Map<Eigen::VectorXd>(gradient.data(), fixed_.rows()) =
      fixed_.selfadjointView<Eigen::Lower>() * as_vector(v);
  return gradient;
}

std::vector<double> FitCost::gradient(std::span<const double> v) const {
  std::vector<double> gradient = fixed_gradient(v);
  const double weight = scale() * scale();
  for (const FitConstraint& constraint : constraints_) {
    const double over = constraint.excess(v);
    if (!(over > 0)) continue;
    constraint.push(gradient, weight * over);
  }
  return gradient;
}

double FitCost::best_length(std::span<const double> v, std::span<const double> step,
                            double slope) const {
  std::vector<double> over(constraints_.size()), change(constraints_.size());
  for (std::size_t n = 0; n < constraints_.size(); ++n) {
    over[n] = constraints_[n].excess(v);
    change[n] = constraints_[n].excess(step) + constraints_[n].bound;
  }
  const double weight = scale() * scale();
  const std::vector<double> force = fixed_gradient(step);
  const double bend = as_vector(step).dot(as_vector(force));
  // Initial slope without the constraints.
  const double rest = slope - weight * derivatives_at(0, over, change).first;
  const auto at = [&](double length) -> Derivatives {
    const auto [first, second] = derivatives_at(length, over, change);
    return {rest + length * bend + weight * first, bend + weight * second};
  };
  // The slope is increasing and piecewise linear: Newton's method within a bracket.
  double low = 0, high = 1, length = 1;
  for (int i = 0; i < k_most_lengths; ++i) {
    const auto [first, second] = at(length);
    if (first <= 0 && length >= 1) return 1;
    if (std::abs(first) <= k_flat * -slope) break;
    (first < 0 ? low : high) = length;
    length -= first / second;
    if (!(length > low && length < high)) length = (low + high) / 2;
  }
  return length;
}

double FitCost::worst(std::span<const double> v) const {
  double worst = 0;
  for (const FitConstraint& constraint : constraints_)
    worst = std::max(worst, constraint.excess(v));
  return worst;
}

std::vector<std::uint32_t> FitCost::active(std::span<const double> v) const {
  std::vector<std::uint32_t> active;
  for (std::uint32_t i = 0; i < constraints_.size(); ++i) {
    if (constraints_[i].excess(v) > 0) active.push_back(i);
  }
  return active;
}

}  // namespace entrain::fit
