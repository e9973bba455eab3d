// SPDX-License-Identifier: BSD-3-Clause
#include "clock/curvature.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "base/random.hpp"

namespace entrain::clock {

namespace {

/// Multiplications of a direct factorisation above which conjugate gradients are cheaper.
constexpr double k_most_direct_work = 1e8;
constexpr double k_tolerance = 1e-7;
constexpr int k_most_iterations = 5'000;
constexpr std::size_t k_probes = 8;
constexpr int k_lanczos_steps = 40;

}  // namespace

double Curvature::Factor::work() const { return m_nonZerosPerCol.cast<double>().squaredNorm(); }

Curvature::Curvature(std::size_t clocks, std::size_t knots)
    : clocks_(static_cast<Eigen::Index>(clocks)),
      knots_(static_cast<Eigen::Index>(knots)),
      size_(clocks_ * knots_) {}

template <class Body>
void Curvature::for_terms(const std::vector<CausalTerm>& fixed,
                          const std::vector<CausalTerm>& bounds, const std::vector<bool>& active,
                          Body body) const {
  for (const CausalTerm& term : fixed) body(term);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (active[i]) body(bounds[i]);
  }
}

bool Curvature::compute(double bend, const std::vector<CausalTerm>& fixed,
                        const std::vector<CausalTerm>& bounds, const std::vector<bool>& active,
                        Way way) {
  bend_ = bend;
  if (way != Way::iterative) {
    const Matrix matrix = assembled(fixed, bounds, active);
    factor_.analyzePattern(matrix);
    const double work = factor_.work();
    direct_ = way == Way::direct || work <= k_most_direct_work;
    if (direct_) {
      work_ += work;
      factor_.factorize(matrix);
      return factor_.info() == Eigen::Success;
    }
  }
  direct_ = false;
  rows_.clear();
  for_terms(fixed, bounds, active, [&](const CausalTerm& term) {
    CausalRow row;
    for (std::size_t i = 0; i < term.row.count; ++i) {
      const Eigen::Index at = term.row.at[i];
      row.add(at % knots_ * clocks_ + at / knots_, term.scale * term.row.weight[i]);
    }
    rows_.push_back(row);
  });
  return factorize_clocks();
}

Eigen::SparseMatrix<double> Curvature::assembled(const std::vector<CausalTerm>& fixed,
                                                 const std::vector<CausalTerm>& bounds,
                                                 const std::vector<bool>& active) const {
  constexpr std::array<double, 3> k_second_difference{1, -2, 1};
  std::vector<Eigen::Triplet<double>> triplets;
  for (Eigen::Index c = 0; c < clocks_; ++c) {
    for (Eigen::Index k = 1; k + 1 < knots_; ++k) {
      const Eigen::Index first = c * knots_ + k - 1;
      for (std::size_t x = 0; x < 3; ++x) {
        for (std::size_t y = 0; y <= x; ++y) {
          triplets.emplace_back(first + static_cast<Eigen::Index>(x),
                                first + static_cast<Eigen::Index>(y),
                                bend_ * k_second_difference[x] * k_second_difference[y]);
        }
      }
    }
  }
  for_terms(fixed, bounds, active, [&](const CausalTerm& term) {
    const double s = term.scale * term.scale;
    for (std::size_t x = 0; x < term.row.count; ++x) {
      for (std::size_t y = 0; y < term.row.count; ++y) {
        if (term.row.at[x] < term.row.at[y]) continue;
        triplets.emplace_back(term.row.at[x], term.row.at[y],
                              s * term.row.weight[x] * term.row.weight[y]);
      }
    }
  });
  Matrix matrix(size_, size_);
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return matrix;
}

/// The part of the matrix between unknowns of one clock.
void Curvature::add_to_band(const CausalRow& row) {
  for (std::size_t x = 0; x < row.count; ++x) {
    for (std::size_t y = 0; y < row.count; ++y) {
      const double value = row.weight[x] * row.weight[y];
      if (row.at[x] == row.at[y]) inverse_[row.at[x]] += value;
      if (row.at[x] == row.at[y] + clocks_) left1_[row.at[x]] += value;
    }
  }
}

/// Cholesky's method on five diagonals, of all clocks side by side.
bool Curvature::factorize_clocks() {
  left1_ = left2_ = inverse_ = Vector::Zero(size_);
  const Eigen::Index n = clocks_;
  for (Eigen::Index k = 1; k + 1 < knots_; ++k) {
    const auto at = [&](Vector& v, Eigen::Index knot) { return v.segment(knot * n, n).array(); };
    at(inverse_, k - 1) += bend_;
    at(left1_, k) -= 2 * bend_;
    at(inverse_, k) += 4 * bend_;
    at(left2_, k + 1) += bend_;
    at(left1_, k + 1) -= 2 * bend_;
    at(inverse_, k + 1) += bend_;
  }
  for (const CausalRow& row : rows_) add_to_band(row);
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

Eigen::VectorXd Curvature::by_knots(const Vector& by_clocks) const {
  return by_clocks.reshaped(knots_, clocks_).transpose().reshaped();
}

Eigen::VectorXd Curvature::by_clocks(const Vector& by_knots) const {
  return by_knots.reshaped(clocks_, knots_).transpose().reshaped();
}

Eigen::VectorXd Curvature::times(const Vector& v) {
  const Eigen::Index n = clocks_;
  Vector product = Vector::Zero(size_);
  Vector r(n);
  for (Eigen::Index k = 1; k + 1 < knots_; ++k) {
    const Eigen::Index i = k * n;
    r = bend_ * (v.segment(i - n, n) - 2 * v.segment(i, n) + v.segment(i + n, n));
    product.segment(i - n, n) += r;
    product.segment(i, n) -= 2 * r;
    product.segment(i + n, n) += r;
  }
  for (const CausalRow& row : rows_) {
    const double value = row.value(v);
    for (std::size_t k = 0; k < row.count; ++k) product[row.at[k]] += value * row.weight[k];
  }
  work_ += 5 * static_cast<double>(size_) + 8 * static_cast<double>(rows_.size());
  return product;
}

void Curvature::solve_lower(Vector& v) {
  const Eigen::Index n = clocks_;
  for (Eigen::Index k = 0; k < knots_; ++k) {
    auto now = v.segment(k * n, n).array();
    if (k >= 1) now -= left1_.segment(k * n, n).array() * v.segment((k - 1) * n, n).array();
    if (k >= 2) now -= left2_.segment(k * n, n).array() * v.segment((k - 2) * n, n).array();
    now *= inverse_.segment(k * n, n).array();
  }
  work_ += 3 * static_cast<double>(size_);
}

void Curvature::solve_upper(Vector& v) {
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

Eigen::VectorXd Curvature::solve(const Vector& right) {
  if (direct_) return factor_.solve(right);
  Vector solution = Vector::Zero(size_), residual = by_knots(right);
  Vector near = residual;
  solve_lower(near);
  solve_upper(near);
  Vector direction = near;
  double product = residual.dot(near);
  const double enough = k_tolerance * k_tolerance * product;
  for (int i = 0; i < k_most_iterations && product > enough; ++i) {
    const Vector image = times(direction);
    const double length = product / direction.dot(image);
    solution += length * direction;
    residual -= length * image;
    near = residual;
    solve_lower(near);
    solve_upper(near);
    const double next = residual.dot(near);
    direction = near + next / product * direction;
    product = next;
  }
  return by_clocks(solution);
}

double Curvature::quadrature(std::size_t probe) {
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
  while (done < steps) {
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

double Curvature::log_determinant() {
  if (direct_) return factor_.vectorD().array().log().sum();
  double rest = 0;
  for (std::size_t probe = 0; probe < k_probes; ++probe) rest += quadrature(probe);
  return rest / static_cast<double>(k_probes) - 2 * inverse_.array().log().sum();
}

}  // namespace entrain::clock
