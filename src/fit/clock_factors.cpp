// SPDX-License-Identifier: BSD-3-Clause
#include "fit/clock_factors.hpp"

#include <cmath>

namespace entrain::fit {

bool ClockFactors::factorise(Eigen::Index clocks, const Vector& diagonal, const Vector& sub1,
                             const Vector& sub2) {
  const Eigen::Index n = clocks_ = clocks;
  left1_ = sub1;
  left2_ = sub2;
  inverse_ = diagonal;
  for (Eigen::Index i = 0; i < diagonal.size(); ++i) {
    if (i >= 2 * n) left2_[i] *= inverse_[i - 2 * n];
    if (i >= n) {
      if (i >= 2 * n) left1_[i] -= left2_[i] * left1_[i - n];
      left1_[i] *= inverse_[i - n];
    }
    const double square = inverse_[i] - left1_[i] * left1_[i] - left2_[i] * left2_[i];
    if (!(square > 0)) return false;
    inverse_[i] = 1 / std::sqrt(square);
  }
  return true;
}

void ClockFactors::solve_lower(Vector& v) const {
  const Eigen::Index n = clocks_, knots = v.size() / n;
  for (Eigen::Index k = 0; k < knots; ++k) {
    auto now = v.segment(k * n, n).array();
    if (k >= 1) now -= left1_.segment(k * n, n).array() * v.segment((k - 1) * n, n).array();
    if (k >= 2) now -= left2_.segment(k * n, n).array() * v.segment((k - 2) * n, n).array();
    now *= inverse_.segment(k * n, n).array();
  }
}

void ClockFactors::solve_upper(Vector& v) const {
  const Eigen::Index n = clocks_, knots = v.size() / n;
  for (Eigen::Index k = knots; k-- > 0;) {
    auto now = v.segment(k * n, n).array();
    if (k + 1 < knots) {
      now -= left1_.segment((k + 1) * n, n).array() * v.segment((k + 1) * n, n).array();
    }
    if (k + 2 < knots) {
      now -= left2_.segment((k + 2) * n, n).array() * v.segment((k + 2) * n, n).array();
    }
    now *= inverse_.segment(k * n, n).array();
  }
}

}  // namespace entrain::fit
