// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "causal/clock_errors.hpp"
#include "causal/clock_subset.hpp"
#include "causal/fit.hpp"

namespace entrain::causal {

/// Some clocks of a problem, and what constraints and sessions say of these alone. How far clocks
/// bend, and how often, is common to all, so some clocks tell as well as many; and a fit of many
/// clocks that meet each other costs the third power of their number.
class ClockSample {
 public:
  /// Takes clocks that share many constraints, one after the other, until `pairs` pairs of them
  /// share any. Example: 300 pairs are 25 clocks that all meet, or some 160 on a grid. `problem`
  /// must outlive this.
  ClockSample(const CausalProblem& problem, std::size_t pairs);
  ClockSample(const ClockSample&) = delete;
  ClockSample& operator=(const ClockSample&) = delete;

  /// False if most clocks would be taken anyway, if too few pairs share any, or if those taken
  /// violate nothing.
  [[nodiscard]] bool is_useful() const;
  /// True if nearly all of the clocks taken meet each other, so that they tell as much of
  /// themselves as all clocks do. On a grid, clocks at the rim lack neighbours.
  [[nodiscard]] bool is_nearly_complete() const;
  /// The problem of these clocks, by numbers of their own.
  [[nodiscard]] const CausalProblem& problem() const { return sample_.problem(); }
  /// The errors of these clocks among those of all.
  [[nodiscard]] ClockErrors errors(const ClockErrors& of_all) const {
    return sample_.errors(of_all);
  }
  /// About the errors of all clocks, given a fit to these: every other clock is fitted to what
  /// holds it to these alone.
  [[nodiscard]] ClockErrors extend(const CausalFit& fit) const;

 private:
  [[nodiscard]] std::vector<std::uint32_t> choose();

  const CausalProblem& whole_;
  std::size_t enough_;     ///< pairs
  std::size_t pairs_ = 0;  ///< of the clocks taken, that meet
  ClockSubset sample_;
};

}  // namespace entrain::causal
