// SPDX-License-Identifier: BSD-3-Clause
#include "fit/clock_sample.hpp"

#include <algorithm>

#include <Eigen/SparseCore>

namespace entrain::fit {

namespace {

/// Choice of the sample; clock_sample_test.cpp.
struct SampleThresholds {
  static constexpr std::size_t most_constraints = std::size_t{1}
                                                  << 16;  ///< looked at to count pairs
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

ClockSample::ClockSample(const CausalProblem& problem, std::size_t pairs)
    : whole_(problem), enough_(pairs), sample_(problem, choose()) {}

std::vector<std::uint32_t> ClockSample::choose() {
  std::vector<std::uint32_t> clocks;
  if (whole_.clocks == 0) return clocks;
  using Counts = Eigen::Matrix<std::int64_t, Eigen::Dynamic, 1>;
  const Eigen::SparseMatrix<std::int64_t> counts = pair_counts(whole_);
  Counts shared = Counts::Zero(counts.rows());
  std::vector<std::uint8_t> in_sample(whole_.clocks, 0);
  Eigen::Index next = 0;
  (counts * Counts::Ones(counts.rows())).maxCoeff(&next);  // the first one with most constraints
  while (pairs_ < enough_) {
    in_sample[static_cast<std::size_t>(next)] = 1;
    clocks.push_back(static_cast<std::uint32_t>(next));
    for (decltype(counts)::InnerIterator with(counts, next); with; ++with) {
      if (in_sample[static_cast<std::size_t>(with.row())] != 0) {
        ++pairs_;
      } else {
        shared[with.row()] += with.value();
      }
    }
    shared[next] = 0;
    if (shared.maxCoeff(&next) == 0) break;
  }
  std::sort(clocks.begin(), clocks.end());
  return clocks;
}

bool ClockSample::is_useful() const {
  return pairs_ >= enough_ &&
         static_cast<double>(problem().clocks) <
             SampleThresholds::most_clocks * static_cast<double>(whole_.clocks) &&
         std::any_of(problem().constraints.begin(), problem().constraints.end(),
                     [](const ClockConstraint& constraint) { return constraint.slack < 0; });
}

bool ClockSample::is_nearly_complete() const {
  const auto count = static_cast<double>(problem().clocks);
  return static_cast<double>(pairs_) >= SampleThresholds::nearly_complete * count * (count - 1) / 2;
}

}  // namespace entrain::fit
