// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "causal/curvature.hpp"

namespace entrain::causal {

/// Spares a solver the constraints that are far from counting. Looks at all of them now and then,
/// and keeps those that a clock might exceed if the unknowns move a little. As long as they move
/// less than that, no other one can count, so sums over those that count are the same to the bit.
/// One thread may use an object; it uses several.
class ConstraintCache {
 public:
  /// `threads`: to look at all constraints with; 0: all cores.
  explicit ConstraintCache(unsigned threads) : threads_(threads) {}

  /// Forgets all that was seen. From now on these are all constraints there are; they must stay.
  void reset(std::span<const FitConstraint> constraints);
  /// The numbers of all constraints that are exceeded at `v`, and of some more, ascending. Valid
  /// until the next call.
  [[nodiscard]] std::span<const std::uint32_t> at(std::span<const double> v);
  /// The same for all points of the way from `v` to `v` + `step`.
  [[nodiscard]] std::span<const std::uint32_t> along(std::span<const double> v,
                                                     std::span<const double> step);
  /// Looks for fewer of them at `v`, given that no unknown moves by much more than `step` from now
  /// on.
  void expect(std::span<const double> v, double step);

 private:
  [[nodiscard]] bool covers(double move, double largest) const;
  void look(std::span<const double> v, double margin);

  std::span<const FitConstraint> constraints_;
  unsigned threads_;
  double sensitivity_ = 2;  ///< a constraint moves by so many times as much as any unknown, at most
  std::vector<double> seen_;  ///< unknowns at which all constraints were looked at
  double margin_ = 0;         ///< constraints further below than that were left out
  std::vector<std::uint32_t> near_;
};

}  // namespace entrain::causal
