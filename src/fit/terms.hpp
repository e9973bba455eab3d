// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include <Eigen/SparseCore>

namespace entrain::fit {

/// Lower half of a symmetric matrix over the unknowns of a fit.
using FitMatrix = Eigen::SparseMatrix<double>;
using FitEntries = std::vector<Eigen::Triplet<double>>;

/// Adds weight * row' row to the lower half of a matrix. `row`: FitConstraint::row(), or the like.
template <class Row>
void add_square(const Row& row, double weight, FitEntries& entries) {
  for (const auto& [i, a] : row) {
    for (const auto& [j, b] : row) {
      if (i >= j) entries.emplace_back(static_cast<int>(i), static_cast<int>(j), weight * a * b);
    }
  }
}

/// A one-sided term of the cost: scale^2 * max(0, excess)^2, where excess = e_to - e_from - bound.
/// All have one scale.
struct FitConstraint {
  std::uint32_t to = 0, from = 0;       ///< unknowns: the first of the two knots around each event
  double to_share = 0, from_share = 0;  ///< position between the knots: 0 at the first one, 1
  double bound = 0;

  [[nodiscard]] double excess(std::span<const double> v) const {
    return (1 - to_share) * v[to] + to_share * v[to + 1] - (1 - from_share) * v[from] -
           from_share * v[from + 1] - bound;
  }
  struct Weight {
    std::uint32_t at = 0;  ///< unknown
    double weight = 0;
  };
  /// Derivatives of excess(), from the latest unknown to the first one of each clock.
  [[nodiscard]] std::array<Weight, 4> row() const {
    return {Weight{to, 1 - to_share}, Weight{to + 1, to_share}, Weight{from, from_share - 1},
            Weight{from + 1, -from_share}};
  }
  /// Largest change of excess() if no unknown moves by more than 1.
  [[nodiscard]] double sensitivity() const {
    double sum = 0;
    for (const Weight& one : row()) sum += std::abs(one.weight);
    return sum;
  }
  /// Adds the contribution of this constraint with a dual variable to a gradient.
  void push(std::span<double> gradient, double dual) const {
    for (const Weight& one : row()) gradient[one.at] += dual * one.weight;
  }
};

}  // namespace entrain::fit
