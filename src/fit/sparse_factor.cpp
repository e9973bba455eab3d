// SPDX-License-Identifier: BSD-3-Clause
#include "fit/sparse_factor.hpp"

#include <cmath>

namespace entrain::fit {

void SparseFactor::analyse(const Matrix& lower) {
  work_ = 0;
  if (lower.rows() == 0) return;
  llt_.analyzePattern(lower);
  work_ = llt_.m_nonZerosPerCol.cast<double>().squaredNorm();
}

bool SparseFactor::factorise(const Matrix& lower) {
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

SparseFactor::Vector SparseFactor::solve(const Vector& right) const {
  if (right.size() == 0) return right;
  return llt_.solve(right);
}

}  // namespace entrain::fit
