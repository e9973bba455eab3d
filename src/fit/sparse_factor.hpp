// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

namespace entrain::fit {

/// Cholesky factor L of a sparse symmetric matrix H = P' L L' P, for many matrices of one pattern:
/// Eigen's SimplicialLLT with the approximate minimum degree order (AMD). Deterministic; one
/// thread.
class SparseFactor {
 public:
  using Matrix = Eigen::SparseMatrix<double>;
  using Vector = Eigen::VectorXd;

  /// Finds the order of elimination. `lower`: the lower half, the whole diagonal included. Call it
  /// again for another pattern.
  void analyse(const Matrix& lower);
  /// Multiplications of a factorisation: the sum of the squares of the entries per column of L.
  [[nodiscard]] double work() const { return work_; }
  /// Factorises a matrix of the pattern that was analysed. False if it is not positive definite.
  bool factorise(const Matrix& lower);

  [[nodiscard]] Vector solve(const Vector& right) const;
  [[nodiscard]] double log_determinant() const { return log_determinant_; }

 private:
  /// Makes members visible that Eigen protects.
  struct Llt : Eigen::SimplicialLLT<Matrix, Eigen::Lower, Eigen::AMDOrdering<int>> {
    using SimplicialCholeskyBase::m_matrix;          // L
    using SimplicialCholeskyBase::m_nonZerosPerCol;  // entries below its diagonal
  };

  Llt llt_;
  double work_ = 0, log_determinant_ = 0;
};

}  // namespace entrain::fit
