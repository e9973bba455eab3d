// SPDX-License-Identifier: BSD-3-Clause
#include "fit/clock_sample.hpp"

#include <algorithm>
#include <utility>

#include "base/flat_map.hpp"

namespace entrain::fit {

namespace {

/// Choice of the sample; clock_sample_test.cpp.
struct SampleThresholds {
  static constexpr std::size_t most_constraints = std::size_t{1}
                                                  << 16;  ///< looked at to count pairs
  static constexpr double most_clocks = 0.75;     ///< share of all clocks at which all are taken
  static constexpr double nearly_complete = 0.8;  ///< coupled pairs as a share of all in the sample
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

}  // namespace entrain::fit
