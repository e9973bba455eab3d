// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/Core>

namespace entrain::fit {

/// Cholesky factors of the matrices of single clocks, five diagonals each, all clocks side by side:
/// unknowns are numbered knot by knot. They precondition conjugate gradients where the matrix of
/// all clocks costs too much to factorise.
class ClockFactors {
 public:
  using Vector = Eigen::VectorXd;

  /// Takes the main diagonal, and the subdiagonals at distance one and two knots, each entry at the
  /// later unknown. False if a matrix is not positive definite.
  bool factorise(Eigen::Index clocks, const Vector& diagonal, const Vector& sub1,
                 const Vector& sub2);
  void solve_lower(Vector& v) const;  ///< v = L^-1 v
  void solve_upper(Vector& v) const;  ///< v = L^-T v
  [[nodiscard]] double log_determinant() const { return -2 * inverse_.array().log().sum(); }

 private:
  Eigen::Index clocks_ = 0;
  /// Subdiagonals at distance one and two, and 1 / diagonal.
  Vector left1_, left2_, inverse_;
};

}  // namespace entrain::fit
