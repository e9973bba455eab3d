// SPDX-License-Identifier: BSD-3-Clause
#include "fit/clock_subset.hpp"

#include <algorithm>

#include <Eigen/SparseCore>

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
  std::vector<double> values(number_.size() * knots, 0.0);
  for (std::uint32_t i = 0; i < clocks_.size(); ++i)
    std::ranges::copy(errors.of(i), values.data() + clocks_[i] * knots);
  return {errors.begin(), errors.spacing(), knots, std::move(values)};
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

namespace {

/// Choice of a sample; clock_sample_test.cpp.
struct SampleThresholds {
  /// Constraints that are looked at to count pairs.
  static constexpr std::size_t most_constraints = std::size_t{1} << 16;
  static constexpr double most_clocks = 0.75;     ///< share of all clocks at which all are taken
  static constexpr double nearly_complete = 0.8;  ///< coupled pairs as a share of all in the sample
};

/// Number of constraints per ordered pair of clocks, in both orders, from every k-th constraint.
Eigen::SparseMatrix<std::int64_t> pair_counts(const CausalProblem& problem) {
  std::vector<Eigen::Triplet<std::int64_t>> entries;
  const std::size_t stride = problem.constraints.size() / SampleThresholds::most_constraints + 1;
  for (std::size_t i = 0; i < problem.constraints.size(); i += stride) {
    const auto from = static_cast<int>(problem.constraints[i].from);
    const auto to = static_cast<int>(problem.constraints[i].to);
    entries.emplace_back(from, to, 1);
    entries.emplace_back(to, from, 1);
  }
  const auto clocks = static_cast<Eigen::Index>(problem.clocks);
  Eigen::SparseMatrix<std::int64_t> counts(clocks, clocks);
  counts.setFromTriplets(entries.begin(), entries.end());
  return counts;
}

}  // namespace

ClockSample::Chosen ClockSample::choose(const CausalProblem& problem, std::size_t enough) {
  Chosen chosen;
  if (problem.clocks == 0) return chosen;
  using Counts = Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>;
  const Eigen::SparseMatrix<std::int64_t> counts = pair_counts(problem);
  Counts shared = Counts::Zero(counts.rows());
  std::vector<std::uint8_t> in_sample(problem.clocks, 0);
  Eigen::Index next = 0;
  (counts * Counts::Ones(counts.rows())).maxCoeff(&next);  // the first one with most constraints
  while (chosen.pairs < enough) {
    in_sample[static_cast<std::size_t>(next)] = 1;
    chosen.clocks.push_back(static_cast<std::uint32_t>(next));
    for (decltype(counts)::InnerIterator with(counts, next); with; ++with) {
      if (in_sample[static_cast<std::size_t>(with.row())] != 0) {
        ++chosen.pairs;
      } else {
        shared[with.row()] += with.value();
      }
    }
    shared[next] = 0;
    if (shared.maxCoeff(&next) == 0) break;
  }
  std::ranges::sort(chosen.clocks);
  return chosen;
}

bool ClockSample::is_useful() const {
  return pairs_ >= enough_ &&
         static_cast<double>(problem().clocks) <
             SampleThresholds::most_clocks * static_cast<double>(numbers().size()) &&
         std::ranges::any_of(problem().constraints,
                             [](const ClockConstraint& one) { return one.slack < 0; });
}

bool ClockSample::is_nearly_complete() const {
  const auto count = static_cast<double>(problem().clocks);
  return static_cast<double>(pairs_) >= SampleThresholds::nearly_complete * count * (count - 1) / 2;
}

}  // namespace entrain::fit
