// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "constraints/clock_errors.hpp"
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

}  // namespace entrain::fit
