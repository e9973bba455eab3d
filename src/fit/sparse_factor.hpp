// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>

#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

namespace entrain::fit {

/// Cholesky factor L of a sparse symmetric matrix H = P' L L' P, for many matrices of one pattern:
/// Eigen's SimplicialLLT. `Order`: that of elimination, AMDOrdering or NaturalOrdering.
/// Deterministic; one thread.
template <class Order>
class SparseFactor {
 public:
  using Matrix = Eigen::SparseMatrix<double>;
  using Vector = Eigen::VectorXd;

  /// Finds the order of elimination. `lower`: the lower half, the whole diagonal included. Call it
  /// again for another pattern.
  void analyse(const Matrix& lower) {
    work_ = 0;
    if (lower.rows() == 0) return;
    llt_.analyzePattern(lower);
    work_ = llt_.m_nonZerosPerCol.template cast<double>().squaredNorm();
  }
  /// Multiplications of a factorisation: the sum of the squares of the entries per column of L.
  [[nodiscard]] double work() const { return work_; }
  /// Factorises a matrix of the pattern that was analysed. False if it is not positive definite.
  bool factorise(const Matrix& lower) {
    log_determinant_ = 0;
    if (lower.rows() == 0) return true;
    llt_.factorize(lower);
    if (llt_.info() != Eigen::Success) return false;
    const auto& factor = llt_.m_matrix;
    // The diagonal is the first entry of each column.
    for (Eigen::Index j = 0; j < factor.outerSize(); ++j)
      log_determinant_ += 2 * std::log(factor.valuePtr()[factor.outerIndexPtr()[j]]);
    return std::isfinite(log_determinant_);
  }

  [[nodiscard]] Vector solve(const Vector& right) const {
    return right.size() == 0 ? right : Vector(llt_.solve(right));
  }
  [[nodiscard]] double log_determinant() const { return log_determinant_; }

 private:
  using Base = Eigen::SimplicialLLT<Matrix, Eigen::Lower, Order>;
  /// Makes members visible that Eigen protects.
  struct Llt : Base {
    using Base::m_matrix;          // L
    using Base::m_nonZerosPerCol;  // entries below its diagonal
  };

  Llt llt_;
  double work_ = 0, log_determinant_ = 0;
};

}  // namespace entrain::fit
