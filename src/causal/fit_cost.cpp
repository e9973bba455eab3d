// SPDX-License-Identifier: BSD-3-Clause
#include "causal/fit_cost.hpp"

#include <algorithm>
#include <cmath>

namespace entrain::causal {

namespace {

double second_difference(std::span<const double> v, std::size_t i) {
  return v[i - 1] - 2 * v[i] + v[i + 1];
}

}  // namespace

FitCost::FitCost(const CausalProblem& problem)
    : problem_(problem),
      span_(static_cast<double>(problem.end - problem.begin)),
      spacing_(span_ / static_cast<double>(problem.knots - 1)) {
  add_constraints();
  add_sessions();
  add_prior();
}

void FitCost::append(FitRow& row, std::uint32_t clock, std::int64_t time, double weight) const {
  const double x = static_cast<double>(time - problem_.begin) / spacing_;
  const double last = static_cast<double>(problem_.knots - 2);
  const double piece = std::clamp(std::floor(x), 0.0, last);
  const std::size_t index = clock * problem_.knots + static_cast<std::size_t>(piece);
  row.add(index, weight * (1 - (x - piece)));
  row.add(index + 1, weight * (x - piece));
}

void FitCost::add_constraints() {
  for (const ClockConstraint& constraint : problem_.constraints) {
    FitTerm term;
    append(term.row, constraint.to, constraint.to_time, 1);
    append(term.row, constraint.from, constraint.from_time, -1);
    term.limit = static_cast<double>(constraint.slack) - problem_.latency;
    term.scale = 1 / problem_.sigma;
    constraints_.push_back(term);
  }
}

void FitCost::add_sessions() {
  for (const SessionConstraint& session : problem_.sessions) {
    FitTerm term;
    append(term.row, session.clock, session.time, 1);
    term.scale = 1 / session.half_width;
    fixed_.push_back(term);
  }
}

/// The fit must not fail where nothing is known of a clock's offset and rate: this prior makes it
/// well-posed, and is so wide that it says nothing.
void FitCost::add_prior() {
  double worst = problem_.sigma;
  for (const ClockConstraint& constraint : problem_.constraints) {
    worst = std::max(worst, -static_cast<double>(constraint.slack));
  }
  for (std::uint32_t c = 0; c < problem_.clocks; ++c) {
    for (const std::int64_t end : {problem_.begin, problem_.end}) {
      FitTerm term;
      append(term.row, c, end, 1);
      term.scale = 1 / (1e4 * worst);
      fixed_.push_back(term);
    }
  }
}

void FitCost::set_amplitude(double amplitude) {
  // lambda int e''^2 = lambda / spacing^3 sum (second differences)^2
  const double lambda = span_ * span_ * span_ / (12 * amplitude * amplitude);
  stiffness_ = std::sqrt(lambda / (spacing_ * spacing_ * spacing_));
}

/// Calls `body` with the number of every unknown that is not the first or last of its clock.
template <class Body>
void FitCost::for_inner_knots(Body body) const {
  for (std::size_t c = 0; c < problem_.clocks; ++c) {
    const std::size_t first = c * problem_.knots;
    for (std::size_t k = 1; k + 1 < problem_.knots; ++k) body(first + k);
  }
}

double FitCost::value(std::span<const double> v) const {
  double cost = 0;
  for_inner_knots([&](std::size_t i) {
    cost += stiffness_ * stiffness_ * second_difference(v, i) * second_difference(v, i);
  });
  for (const FitTerm& term : fixed_) {
    const double r = term.scale * term.row.value(v);
    cost += r * r;
  }
  for (const FitTerm& term : constraints_) {
    const double r = term.scale * std::max(0.0, term.row.value(v) - term.limit);
    cost += r * r;
  }
  return cost / 2;
}

std::vector<double> FitCost::gradient(std::span<const double> v) const {
  std::vector<double> gradient(size(), 0.0);
  for_inner_knots([&](std::size_t i) {
    const double r = stiffness_ * stiffness_ * second_difference(v, i);
    gradient[i - 1] += r;
    gradient[i] -= 2 * r;
    gradient[i + 1] += r;
  });
  const auto add = [&](const FitTerm& term, double over) {
    const double r = term.scale * term.scale * over;
    for (std::size_t k = 0; k < term.row.count; ++k) {
      gradient[term.row.at[k]] += r * term.row.weight[k];
    }
  };
  for (const FitTerm& term : fixed_) add(term, term.row.value(v));
  for (const FitTerm& term : constraints_) {
    const double over = term.row.value(v) - term.limit;
    if (over > 0) add(term, over);
  }
  return gradient;
}

std::vector<bool> FitCost::active(std::span<const double> v) const {
  std::vector<bool> active;
  active.reserve(constraints_.size());
  for (const FitTerm& term : constraints_) active.push_back(term.row.value(v) > term.limit);
  return active;
}

}  // namespace entrain::causal
