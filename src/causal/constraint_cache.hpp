// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "causal/curvature.hpp"

namespace entrain::causal {

/// Cache of the constraints near the unknowns, so that a solver need not evaluate all of them. It
/// keeps those that may become active if the unknowns move by less than a margin, and evaluates all
/// constraints only after a larger move. Sums over active constraints are the same to the bit. One
/// thread may use an object; it uses several.
class ConstraintCache {
 public:
  /// `threads`: used to evaluate all constraints; 0: all cores.
  explicit ConstraintCache(unsigned threads) : threads_(threads) {}

  /// Replaces the constraints, which must stay, and empties the cache.
  void reset(std::span<const FitConstraint> constraints);
  /// Numbers of all constraints that are exceeded at `v`, and of some more, ascending. Valid until
  /// the next call.
  [[nodiscard]] std::span<const std::uint32_t> at(std::span<const double> v);
  /// The same for all points of the way from `v` to `v` + `step`.
  [[nodiscard]] std::span<const std::uint32_t> along(std::span<const double> v,
                                                     std::span<const double> step);
  /// Shrinks the cache around `v`, given that no unknown will move by much more than `step`.
  void expect(std::span<const double> v, double step);

 private:
  [[nodiscard]] bool covers(double move, double largest) const;
  void look(std::span<const double> v, double margin);

  std::span<const FitConstraint> constraints_;
  unsigned threads_;
  double sensitivity_ = 2;    ///< largest FitConstraint::sensitivity()
  std::vector<double> seen_;  ///< unknowns at which all constraints were evaluated
  double margin_ = 0;         ///< constraints missed by more were left out, ticks
  std::vector<std::uint32_t> near_;
};

}  // namespace entrain::causal
