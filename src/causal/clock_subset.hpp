// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "causal/clock_errors.hpp"
#include "causal/fit.hpp"

namespace entrain::causal {

/// Some clocks of a problem, by numbers of their own, and what constraints and sessions say of
/// these alone.
class ClockSubset {
 public:
  /// `clocks`: ascending. `problem` must outlive this as far as its spans go.
  ClockSubset(const CausalProblem& problem, std::vector<std::uint32_t> clocks);
  ClockSubset(const ClockSubset&) = delete;
  ClockSubset& operator=(const ClockSubset&) = delete;

  [[nodiscard]] const CausalProblem& problem() const { return part_; }
  /// Per clock of the whole: its number among these, or `none`.
  [[nodiscard]] std::span<const std::uint32_t> numbers() const { return number_; }
  static constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();

  /// The errors of these clocks among those of all. Without knots if these have none.
  [[nodiscard]] ClockErrors errors(const ClockErrors& of_all) const;
  /// The errors of all clocks: those of others are 0.
  [[nodiscard]] ClockErrors of_all(const ClockErrors& errors) const;

 private:
  CausalProblem part_;
  std::vector<std::uint32_t> clocks_;
  std::vector<std::uint32_t> number_;
  std::vector<ClockConstraint> constraints_;
  std::vector<SessionConstraint> sessions_;
};

/// The clocks that some constraint joins, or that have more than `most_sessions`; the others need
/// no fit.
///
/// A fit leaves a clock without a constraint as it is: its error is 0. If it has two sessions at
/// most, it also says nothing of the amplitude: two values hold offset and rate, and each of its
/// other unknowns adds the same to the evidence of all amplitudes. Example: of 4,096 processes,
/// only those of three racks ever exchange messages both ways; the fit is one of these.
[[nodiscard]] std::vector<std::uint32_t> joined_clocks(
    const CausalProblem& problem,
    std::size_t most_sessions = std::numeric_limits<std::size_t>::max());

/// True if a fit of so many clocks of a problem instead of all saves enough.
[[nodiscard]] inline bool is_much_smaller(std::size_t clocks, const CausalProblem& problem) {
  return clocks > 0 && clocks < problem.clocks - problem.clocks / 8;
}

}  // namespace entrain::causal
