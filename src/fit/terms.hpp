// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstdint>
#include <span>

namespace entrain::fit {

/// A quadratic term of the cost: (scale * value)^2 of one clock at one time, between two knots.
struct FitTerm {
  std::uint32_t at = 0;  ///< unknown of the first of two neighbouring knots
  double share = 0;      ///< position between the knots: 0 at `at`, 1 at the next
  double scale = 1;

  [[nodiscard]] double value(std::span<const double> v) const {
    return (1 - share) * v[at] + share * v[at + 1];
  }
};

/// A one-sided term of the cost: scale^2 * max(0, excess)^2, where excess = e_to - e_from - bound.
/// All have one scale.
struct FitConstraint {
  std::uint32_t to = 0, from = 0;       ///< see FitTerm::at
  double to_share = 0, from_share = 0;  ///< see FitTerm::share
  double bound = 0;

  [[nodiscard]] double excess(std::span<const double> v) const {
    return (1 - to_share) * v[to] + to_share * v[to + 1] - (1 - from_share) * v[from] -
           from_share * v[from + 1] - bound;
  }
  /// Largest change of excess() if no unknown moves by more than 1.
  [[nodiscard]] double sensitivity() const {
    return std::abs(1 - to_share) + std::abs(to_share) + std::abs(1 - from_share) +
           std::abs(from_share);
  }
  /// Adds the contribution of this constraint with a dual variable to a gradient.
  void push(std::span<double> gradient, double dual) const {
    gradient[to] += dual * (1 - to_share);
    gradient[to + 1] += dual * to_share;
    gradient[from] -= dual * (1 - from_share);
    gradient[from + 1] -= dual * from_share;
  }
};

}  // namespace entrain::fit
