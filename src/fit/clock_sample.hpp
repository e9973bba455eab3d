// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "constraints/clock_errors.hpp"
#include "fit/clock_subset.hpp"
#include "fit/problem.hpp"

namespace entrain::fit {

/// Sample of the clocks of a problem, with the constraints and sessions between them. All clocks
/// have one amplitude and one number of knots, so a sample determines these. It saves time: the
/// cost of a fit grows with the cube of the number of coupled clocks.
class ClockSample {
 public:
  /// Adds the clock that shares most constraints with the sample, until `pairs` pairs of its clocks
  /// share constraints. Example: 300 pairs are 25 clocks that are all coupled, or some 160 on a
  /// grid. `problem` must outlive this.
  ClockSample(const CausalProblem& problem, std::size_t pairs);
  ClockSample(const ClockSample&) = delete;
  ClockSample& operator=(const ClockSample&) = delete;

  /// False if the sample has most of the clocks, if too few of its pairs share constraints, or if
  /// none of its constraints is violated.
  [[nodiscard]] bool is_useful() const;
  /// True if nearly all pairs share constraints: its clocks are then determined as well as in a fit
  /// of all. On a grid, clocks at the rim lack neighbours.
  [[nodiscard]] bool is_nearly_complete() const;
  [[nodiscard]] const CausalProblem& problem() const { return sample_.problem(); }
  [[nodiscard]] ClockErrors errors(const ClockErrors& of_all) const {
    return sample_.errors(of_all);
  }

 private:
  [[nodiscard]] std::vector<std::uint32_t> choose();

  const CausalProblem& whole_;
  std::size_t enough_;     ///< pairs wanted
  std::size_t pairs_ = 0;  ///< pairs in the sample that share constraints
  ClockSubset sample_;
};

}  // namespace entrain::fit
