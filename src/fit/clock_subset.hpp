// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "fit/problem.hpp"

namespace entrain::fit {

/// Some clocks of a problem, renumbered, with the constraints and sessions between them.
class ClockSubset {
 public:
  /// `clocks`: ascending. `problem` must outlive this as far as its spans go. Nothing is copied if
  /// all clocks are taken.
  ClockSubset(const CausalProblem& problem, std::vector<std::uint32_t> clocks);
  ClockSubset(const ClockSubset&) = delete;
  ClockSubset& operator=(const ClockSubset&) = delete;

  [[nodiscard]] const CausalProblem& problem() const { return part_; }
  /// Number in the subset per clock of the whole, or `none`.
  [[nodiscard]] std::span<const std::uint32_t> numbers() const { return number_; }
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// Errors of the subset, taken from those of all clocks. Without knots if these have none.
  [[nodiscard]] ClockErrors errors(const ClockErrors& of_all) const;
  /// Errors of all clocks: 0 outside the subset.
  [[nodiscard]] ClockErrors of_all(const ClockErrors& errors) const;

 private:
  CausalProblem part_;
  std::vector<std::uint32_t> clocks_;
  std::vector<std::uint32_t> number_;
  std::vector<ClockConstraint> constraints_;
  std::vector<SessionConstraint> sessions_;
};

/// Returns the clocks with a constraint or more than two sessions; the others need no fit.
///
/// A clock without a constraint keeps the error 0. With at most two sessions it does not affect the
/// choice of the amplitude either: two values determine offset and rate, and its other unknowns add
/// the same to the evidence of every amplitude. Example: of 4,096 processes, only those of three
/// racks exchange messages both ways; only these are fitted.
[[nodiscard]] std::vector<std::uint32_t> joined_clocks(const CausalProblem& problem);

/// Sample of the clocks of a problem. All clocks have one amplitude and one number of knots, so a
/// sample determines these. It saves time: the cost of a fit grows with the cube of the number of
/// coupled clocks.
class ClockSample : public ClockSubset {
 public:
  /// Adds the clock that shares most constraints with the sample, until `pairs` pairs of its clocks
  /// share constraints. Example: 300 pairs are 25 clocks that are all coupled, or some 160 on a
  /// grid. `problem` must outlive this.
  ClockSample(const CausalProblem& problem, std::size_t pairs)
      : ClockSample(problem, choose(problem, pairs), pairs) {}

  /// False if the sample has most of the clocks, if too few of its pairs share constraints, or if
  /// none of its constraints is violated.
  [[nodiscard]] bool is_useful() const;
  /// True if nearly all pairs share constraints: its clocks are then determined as well as in a fit
  /// of all. On a grid, clocks at the rim lack neighbours.
  [[nodiscard]] bool is_nearly_complete() const;

 private:
  struct Chosen {
    std::vector<std::uint32_t> clocks;
    std::size_t pairs = 0;  ///< pairs of these that share constraints
  };
  static Chosen choose(const CausalProblem& problem, std::size_t enough);
  ClockSample(const CausalProblem& problem, Chosen chosen, std::size_t enough)
      : ClockSubset(problem, std::move(chosen.clocks)), enough_(enough), pairs_(chosen.pairs) {}

  std::size_t enough_, pairs_;  ///< pairs wanted, and those there are
};

}  // namespace entrain::fit
