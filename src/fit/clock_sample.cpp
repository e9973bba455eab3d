// SPDX-License-Identifier: BSD-3-Clause
#include "fit/clock_sample.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include "base/flat_map.hpp"
#include "fit/fit_solver.hpp"

namespace entrain::fit {

namespace {

/// Choice of the sample; clock_sample_test.cpp.
struct SampleThresholds {
  static constexpr std::size_t most_constraints = std::size_t{1}
                                                  << 16;  ///< looked at to count pairs
  static constexpr double most_clocks = 0.75;     ///< share of all clocks at which all are taken
  static constexpr double nearly_complete = 0.8;  ///< coupled pairs as a share of all in the sample
  static constexpr double fixed_sigma = 0.01;     ///< half-width of the exact clock, units of sigma
};

/// Number of constraints per pair of clocks, from every k-th constraint.
class PairCounts {
 public:
  explicit PairCounts(const CausalProblem& problem) : of_(problem.clocks), total_(problem.clocks) {
    FlatMap<std::uint64_t, std::uint32_t, IntegerHash> place;
    struct Pair {
      std::uint32_t low = 0, high = 0, count = 0;
    };
    std::vector<Pair> pairs;
    const std::size_t stride = problem.constraints.size() / SampleThresholds::most_constraints + 1;
    for (std::size_t i = 0; i < problem.constraints.size(); i += stride) {
      const ClockConstraint& constraint = problem.constraints[i];
      const auto [low, high] = std::minmax(constraint.from, constraint.to);
      const auto [number, is_new] = place.insert(std::uint64_t{low} * problem.clocks + high,
                                                 static_cast<std::uint32_t>(pairs.size()));
      if (is_new) pairs.push_back({low, high, 0});
      ++pairs[*number].count;
    }
    for (const Pair& pair : pairs) {
      of_[pair.low].push_back({pair.high, pair.count});
      of_[pair.high].push_back({pair.low, pair.count});
      total_[pair.low] += pair.count;
      total_[pair.high] += pair.count;
    }
  }

  struct Neighbour {
    std::uint32_t clock = 0, count = 0;
  };
  [[nodiscard]] const std::vector<Neighbour>& of(std::uint32_t clock) const { return of_[clock]; }
  /// The clock with most constraints; the first of several.
  [[nodiscard]] std::uint32_t busiest() const {
    return static_cast<std::uint32_t>(std::max_element(total_.begin(), total_.end()) -
                                      total_.begin());
  }

 private:
  std::vector<std::vector<Neighbour>> of_;
  std::vector<std::uint64_t> total_;
};

}  // namespace

ClockSample::ClockSample(const CausalProblem& problem, std::size_t pairs)
    : whole_(problem), enough_(pairs), sample_(problem, choose()) {}

std::vector<std::uint32_t> ClockSample::choose() {
  std::vector<std::uint32_t> clocks;
  if (whole_.clocks == 0) return clocks;
  const PairCounts counts(whole_);
  std::vector<std::uint64_t> shared(whole_.clocks, 0);
  std::vector<std::uint8_t> in_sample(whole_.clocks, 0);
  std::uint32_t next = counts.busiest();
  while (pairs_ < enough_) {
    in_sample[next] = 1;
    clocks.push_back(next);
    for (const PairCounts::Neighbour& with : counts.of(next)) {
      if (in_sample[with.clock] != 0) {
        ++pairs_;
      } else {
        shared[with.clock] += with.count;
      }
    }
    shared[next] = 0;
    next =
        static_cast<std::uint32_t>(std::max_element(shared.begin(), shared.end()) - shared.begin());
    if (shared[next] == 0) break;
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

namespace {

/// Problem of the other clocks, given the errors of the sample: all clocks of the sample become one
/// exact clock, and their errors go into the slacks.
class ConditionalProblem {
 public:
  ConditionalProblem(const CausalProblem& whole, std::span<const std::uint32_t> number,
                     const ClockErrors& known)
      : number_(number), known_(known), problem_(whole) {
    for (std::uint32_t c = 0; c < whole.clocks; ++c) {
      other_.push_back(static_cast<std::uint32_t>(others_.size()));
      if (number[c] == ClockSubset::none) others_.push_back(c);
    }
    exact_ = static_cast<std::uint32_t>(others_.size());
    for (const ClockConstraint& constraint : whole.constraints) add(constraint);
    for (SessionConstraint session : whole.sessions) {
      if (is_known(session.clock)) continue;
      session.clock = other_[session.clock];
      sessions_.push_back(session);
    }
    for (std::size_t k = 0; k < known.knots(); ++k) {
      sessions_.push_back({exact_, whole.begin + std::llround(known.distance(k)),
                           whole.sigma * SampleThresholds::fixed_sigma});
    }
    problem_.clocks = others_.size() + 1;
    problem_.knots = known.knots();
    problem_.constraints = constraints_;
    problem_.sessions = sessions_;
  }

  [[nodiscard]] const CausalProblem& problem() const { return problem_; }
  [[nodiscard]] bool is_known(std::uint32_t clock) const {
    return number_[clock] != ClockSubset::none;
  }
  [[nodiscard]] std::uint32_t other(std::uint32_t clock) const { return other_[clock]; }

 private:
  void add(ClockConstraint constraint) {
    if (is_known(constraint.from) == is_known(constraint.to)) return;
    if (is_known(constraint.from)) {
      constraint.slack += error(constraint.from, constraint.from_time);
      constraint.from = exact_;
      constraint.to = other_[constraint.to];
    } else {
      constraint.slack -= error(constraint.to, constraint.to_time);
      constraint.from = other_[constraint.from];
      constraint.to = exact_;
    }
    constraints_.push_back(constraint);
  }
  [[nodiscard]] std::int64_t error(std::uint32_t clock, std::int64_t time) const {
    return std::llround(known_(number_[clock], time));
  }

  std::span<const std::uint32_t> number_;
  const ClockErrors& known_;
  CausalProblem problem_;
  std::vector<std::uint32_t> others_, other_;
  std::uint32_t exact_ = 0;
  std::vector<ClockConstraint> constraints_;
  std::vector<SessionConstraint> sessions_;
};

}  // namespace

ClockErrors ClockSample::extend(const CausalFit& fit) const {
  const ConditionalProblem others(whole_, sample_.numbers(), fit.errors);
  const CausalFit found = fit_causal(others.problem(), fit.amplitude);
  const std::size_t knots = fit.errors.knots();
  std::vector<double> values(whole_.clocks * knots, 0.0);
  for (std::uint32_t c = 0; c < whole_.clocks; ++c) {
    if (!others.is_known(c) && !found.converged) continue;
    const auto of_clock =
        others.is_known(c) ? fit.errors.of(sample_.numbers()[c]) : found.errors.of(others.other(c));
    std::copy(of_clock.begin(), of_clock.end(),
              values.begin() + static_cast<std::ptrdiff_t>(c * knots));
  }
  return {fit.errors.begin(), fit.errors.spacing(), knots, std::move(values)};
}

}  // namespace entrain::fit
