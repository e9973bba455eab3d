// SPDX-License-Identifier: BSD-3-Clause
#include "clock/curvature.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Eigenvalues>

#include "base/random.hpp"

namespace entrain::clock {

namespace {

constexpr std::array<double, 3> k_second_difference{1, -2, 1};
/// Multiplications that a direct factorisation may take, about a second's worth.
constexpr double k_most_direct_work = 2e9;
constexpr double k_tolerance = 1e-8;
constexpr int k_most_iterations = 5'000;
constexpr std::size_t k_probes = 8;
constexpr int k_lanczos_steps = 60;

}  // namespace

Curvature::Curvature(std::size_t clocks, std::size_t knots)
    : clocks_(clocks), knots_(knots), size_(static_cast<Eigen::Index>(clocks * knots)) {}

bool Curvature::compute(double bend, const std::vector<CausalTerm>& fixed,
                        const std::vector<CausalTerm>& bounds, const std::vector<bool>& active,
                        Way way) {
  bend_ = bend;
  terms_.clear();
  for (const CausalTerm& term : fixed) terms_.push_back(&term);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (active[i]) terms_.push_back(&bounds[i]);
  }
  direct_ = way == Way::direct || (way == Way::automatic && few_are_coupled(bounds, active));
  return direct_ ? factorize_all() : factorize_clocks();
}

/// Eliminated from knot to knot, coupled clocks make a dense block of two knots each.
bool Curvature::few_are_coupled(const std::vector<CausalTerm>& bounds,
                                const std::vector<bool>& active) const {
  std::vector<bool> coupled(clocks_, false);
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (!active[i]) continue;
    for (std::size_t k = 0; k < bounds[i].row.count; ++k) {
      coupled[static_cast<std::size_t>(bounds[i].row.at[k]) / knots_] = true;
    }
  }
  const double block = 2.0 * static_cast<double>(std::count(coupled.begin(), coupled.end(), true));
  return block * block * block * static_cast<double>(knots_) <= k_most_direct_work;
}

template <class Body>
void Curvature::for_bends(Body body) const {
  for (std::size_t c = 0; c < clocks_; ++c) {
    const auto first = static_cast<Eigen::Index>(c * knots_);
    for (std::size_t k = 1; k + 1 < knots_; ++k) body(first + static_cast<Eigen::Index>(k));
  }
}

bool Curvature::factorize_all() {
  std::vector<Eigen::Triplet<double>> triplets;
  for_bends([&](Eigen::Index i) {
    for (std::size_t x = 0; x < 3; ++x) {
      for (std::size_t y = 0; y <= x; ++y) {
        triplets.emplace_back(i - 1 + static_cast<Eigen::Index>(x),
                              i - 1 + static_cast<Eigen::Index>(y),
                              bend_ * k_second_difference[x] * k_second_difference[y]);
      }
    }
  });
  for (const CausalTerm* term : terms_) {
    const double s = term->scale * term->scale;
    for (std::size_t x = 0; x < term->row.count; ++x) {
      for (std::size_t y = 0; y < term->row.count; ++y) {
        if (term->row.at[x] < term->row.at[y]) continue;
        triplets.emplace_back(term->row.at[x], term->row.at[y],
                              s * term->row.weight[x] * term->row.weight[y]);
      }
    }
  }
  Eigen::SparseMatrix<double> matrix(size_, size_);
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  factor_.compute(matrix);
  return factor_.info() == Eigen::Success;
}

void Curvature::add_to_band(const CausalTerm& term) {
  const double s = term.scale * term.scale;
  for (std::size_t x = 0; x < term.row.count; ++x) {
    for (std::size_t y = 0; y < term.row.count; ++y) {
      const Eigen::Index row = term.row.at[x], column = term.row.at[y];
      if (static_cast<std::size_t>(row) / knots_ != static_cast<std::size_t>(column) / knots_) {
        continue;
      }
      const double value = s * term.row.weight[x] * term.row.weight[y];
      BandRow& band = band_[static_cast<std::size_t>(row)];
      if (row == column) band.diagonal += value;
      if (row == column + 1) band.left1 += value;
    }
  }
}

/// Cholesky's method on five diagonals; between clocks there is nothing.
bool Curvature::factorize_clocks() {
  band_.assign(clocks_ * knots_, {});
  for_bends([&](Eigen::Index i) {
    const auto n = static_cast<std::size_t>(i);
    band_[n - 1].diagonal += bend_;
    band_[n].left1 -= 2 * bend_;
    band_[n].diagonal += 4 * bend_;
    band_[n + 1].left2 += bend_;
    band_[n + 1].left1 -= 2 * bend_;
    band_[n + 1].diagonal += bend_;
  });
  for (const CausalTerm* term : terms_) add_to_band(*term);
  for (std::size_t n = 0; n < band_.size(); ++n) {
    BandRow& row = band_[n];
    const std::size_t k = n % knots_;
    if (k >= 2) row.left2 /= band_[n - 2].diagonal;
    if (k >= 1) {
      if (k >= 2) row.left1 -= row.left2 * band_[n - 1].left1;
      row.left1 /= band_[n - 1].diagonal;
    }
    const double square = row.diagonal - row.left1 * row.left1 - row.left2 * row.left2;
    if (!(square > 0)) return false;
    row.diagonal = std::sqrt(square);
  }
  return true;
}

Eigen::VectorXd Curvature::times(const Vector& v) const {
  Vector product = Vector::Zero(size_);
  for_bends([&](Eigen::Index i) {
    const double r = bend_ * (v[i - 1] - 2 * v[i] + v[i + 1]);
    product[i - 1] += r;
    product[i] -= 2 * r;
    product[i + 1] += r;
  });
  for (const CausalTerm* term : terms_) {
    const double r = term->scale * term->scale * term->row.value(v);
    for (std::size_t k = 0; k < term->row.count; ++k) {
      product[term->row.at[k]] += r * term->row.weight[k];
    }
  }
  return product;
}

void Curvature::solve_lower(Vector& v) const {
  for (std::size_t n = 0; n < band_.size(); ++n) {
    const auto i = static_cast<Eigen::Index>(n);
    const std::size_t k = n % knots_;
    double value = v[i];
    if (k >= 1) value -= band_[n].left1 * v[i - 1];
    if (k >= 2) value -= band_[n].left2 * v[i - 2];
    v[i] = value / band_[n].diagonal;
  }
}

void Curvature::solve_upper(Vector& v) const {
  for (std::size_t n = band_.size(); n-- > 0;) {
    const auto i = static_cast<Eigen::Index>(n);
    const std::size_t right = knots_ - 1 - n % knots_;
    double value = v[i];
    if (right >= 1) value -= band_[n + 1].left1 * v[i + 1];
    if (right >= 2) value -= band_[n + 2].left2 * v[i + 2];
    v[i] = value / band_[n].diagonal;
  }
}

Eigen::VectorXd Curvature::solve(const Vector& right) const {
  if (direct_) return factor_.solve(right);
  Vector solution = Vector::Zero(size_), residual = right;
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
  return solution;
}

double Curvature::quadrature(std::size_t probe) const {
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

double Curvature::log_determinant() const {
  if (direct_) return factor_.vectorD().array().log().sum();
  double sum = 0;
  for (const BandRow& row : band_) sum += 2 * std::log(row.diagonal);
  double rest = 0;
  for (std::size_t probe = 0; probe < k_probes; ++probe) rest += quadrature(probe);
  return sum + rest / static_cast<double>(k_probes);
}

}  // namespace entrain::clock
