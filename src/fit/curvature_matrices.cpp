// SPDX-License-Identifier: BSD-3-Clause
// The matrices of single clocks, which precondition conjugate gradients where the matrix of all
// costs too much to factorise.
#include <algorithm>
#include <cmath>
#include <utility>

#include <Eigen/Eigenvalues>

#include "base/random.hpp"
#include "fit/curvature_matrices.hpp"

namespace entrain::fit {

namespace {

constexpr int k_lanczos_steps = 40;  ///< per probe; curvature_test.cpp

using Vector = Eigen::VectorXd;

}  // namespace

/// Cholesky factors of five diagonals, for all clocks side by side.
bool Curvature::Matrices::factorize_clocks(double bend) {
  const Eigen::Index n = clocks_;
  add_clocks(bend);
  const auto add_square = [&](Eigen::Index at, const std::array<double, 3>& square) {
    diagonal_[at] += square[0];
    sub1_[at + n] += square[1];
    diagonal_[at + n] += square[2];
  };
  for (const Block& block : blocks_) {
    add_square(block.low, block.low_square);
    add_square(block.high, block.high_square);
  }
  left1_ = sub1_;
  left2_ = sub2_;
  inverse_ = diagonal_;
  for (Eigen::Index i = 0; i < size_; ++i) {
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

Vector Curvature::Matrices::by_knots(const Vector& by_clocks) const {
  return by_clocks.reshaped(knots_, clocks_).transpose().reshaped();
}

Vector Curvature::Matrices::by_clocks(const Vector& by_knots) const {
  return by_knots.reshaped(clocks_, knots_).transpose().reshaped();
}

Vector Curvature::Matrices::times(const Vector& v) {
  const Eigen::Index n = clocks_;
  Vector product = diagonal_.cwiseProduct(v);
  for (const auto& [beside, distance] : {std::pair(&sub1_, n), std::pair(&sub2_, 2 * n)}) {
    const Eigen::Index rest = size_ - distance;
    product.tail(rest) += beside->tail(rest).cwiseProduct(v.head(rest));
    product.head(rest) += beside->tail(rest).cwiseProduct(v.tail(rest));
  }
  for (const Block& block : blocks_) {
    const Eigen::Index a = block.low, b = block.high;
    const auto& m = block.value;
    product[b] += m[0] * v[a] + m[1] * v[a + n];
    product[b + n] += m[2] * v[a] + m[3] * v[a + n];
    product[a] += m[0] * v[b] + m[2] * v[b + n];
    product[a + n] += m[1] * v[b] + m[3] * v[b + n];
  }
  work_ += 5 * static_cast<double>(size_) + 8 * static_cast<double>(blocks_.size());
  return product;
}

void Curvature::Matrices::solve_lower(Vector& v) {
  const Eigen::Index n = clocks_;
  for (Eigen::Index k = 0; k < knots_; ++k) {
    auto now = v.segment(k * n, n).array();
    if (k >= 1) now -= left1_.segment(k * n, n).array() * v.segment((k - 1) * n, n).array();
    if (k >= 2) now -= left2_.segment(k * n, n).array() * v.segment((k - 2) * n, n).array();
    now *= inverse_.segment(k * n, n).array();
  }
  work_ += 3 * static_cast<double>(size_);
}

void Curvature::Matrices::solve_upper(Vector& v) {
  const Eigen::Index n = clocks_;
  for (Eigen::Index k = knots_; k-- > 0;) {
    auto now = v.segment(k * n, n).array();
    if (k + 1 < knots_) {
      now -= left1_.segment((k + 1) * n, n).array() * v.segment((k + 1) * n, n).array();
    }
    if (k + 2 < knots_) {
      now -= left2_.segment((k + 2) * n, n).array() * v.segment((k + 2) * n, n).array();
    }
    now *= inverse_.segment(k * n, n).array();
  }
  work_ += 3 * static_cast<double>(size_);
}

double Curvature::Matrices::quadrature(std::size_t probe) {
  RandomStream random(0, probe);
  Vector now(size_);
  for (Eigen::Index i = 0; i < size_; ++i) now[i] = random.below(2) == 0 ? -1 : 1;
  const double norm = now.norm();
  now /= norm;
  Vector before = Vector::Zero(size_);
  const int steps = static_cast<int>(std::min<Eigen::Index>(k_lanczos_steps, size_));
  Vector diagonal(steps), side(steps);
  int done = 0;
  double beta = 0;
  while (done < steps && (done == 0 || !cancel_.asked())) {
    Vector next = now;
    solve_upper(next);
    next = times(next);
    solve_lower(next);
    next -= beta * before;
    const double alpha = next.dot(now);
    next -= alpha * now;
    beta = next.norm();
    diagonal[done] = alpha;
    side[done] = beta;
    ++done;
    if (beta < 1e-10) break;
    before = now;
    now = next / beta;
  }
  Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen;
  eigen.computeFromTridiagonal(diagonal.head(done), side.head(std::max(done - 1, 0)));
  double sum = 0;
  for (int i = 0; i < done; ++i) {
    const double first = eigen.eigenvectors()(0, i);
    sum += first * first * std::log(std::max(eigen.eigenvalues()[i], 1e-300));
  }
  return norm * norm * sum;
}

}  // namespace entrain::fit
