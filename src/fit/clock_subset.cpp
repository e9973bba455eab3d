// SPDX-License-Identifier: BSD-3-Clause
#include "fit/clock_subset.hpp"

#include <utility>

namespace entrain::fit {

ClockSubset::ClockSubset(const CausalProblem& problem, std::vector<std::uint32_t> clocks)
    : part_(problem), clocks_(std::move(clocks)), number_(problem.clocks, none) {
  for (std::size_t i = 0; i < clocks_.size(); ++i)
    number_[clocks_[i]] = static_cast<std::uint32_t>(i);
  if (clocks_.size() == problem.clocks) return;
  for (ClockConstraint constraint : problem.constraints) {
    constraint.from = number_[constraint.from];
    constraint.to = number_[constraint.to];
    if (constraint.from != none && constraint.to != none) constraints_.push_back(constraint);
  }
  for (SessionConstraint session : problem.sessions) {
    session.clock = number_[session.clock];
    if (session.clock != none) sessions_.push_back(session);
  }
  part_.clocks = clocks_.size();
  part_.constraints = constraints_;
  part_.sessions = sessions_;
}

ClockErrors ClockSubset::errors(const ClockErrors& of_all) const {
  if (of_all.knots() == 0) return of_all;
  std::vector<double> values;
  values.reserve(clocks_.size() * of_all.knots());
  for (const std::uint32_t clock : clocks_) {
    const auto of_clock = of_all.of(clock);
    values.insert(values.end(), of_clock.begin(), of_clock.end());
  }
  return {of_all.begin(), of_all.spacing(), of_all.knots(), std::move(values)};
}

ClockErrors ClockSubset::of_all(const ClockErrors& errors) const {
  const std::size_t knots = errors.knots();
  if (knots == 0) return errors;
  ClockErrors all(errors.begin(), errors.spacing(), knots,
                  std::vector<double>(number_.size() * knots, 0.0));
  for (std::size_t i = 0; i < clocks_.size(); ++i)
    all.set(clocks_[i], errors.of(static_cast<std::uint32_t>(i)));
  return all;
}

std::vector<std::uint32_t> joined_clocks(const CausalProblem& problem) {
  constexpr std::size_t k_most_sessions = 2;
  std::vector<std::uint8_t> joined(problem.clocks, 0);
  for (const ClockConstraint& constraint : problem.constraints)
    joined[constraint.from] = joined[constraint.to] = 1;
  std::vector<std::size_t> sessions(problem.clocks, 0);
  for (const SessionConstraint& session : problem.sessions) ++sessions[session.clock];
  std::vector<std::uint32_t> clocks;
  for (std::uint32_t c = 0; c < problem.clocks; ++c) {
    if (joined[c] != 0 || sessions[c] > k_most_sessions) clocks.push_back(c);
  }
  return clocks;
}

}  // namespace entrain::fit
