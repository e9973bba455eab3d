// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <Eigen/Sparse>
#include <Eigen/SparseCholesky>

namespace entrain::clock {

/// A linear function of up to four unknowns: values at neighbouring knots of one clock or of two.
struct CausalRow {
  std::array<Eigen::Index, 4> at{};
  std::array<double, 4> weight{};
  std::size_t count = 0;

  void add(Eigen::Index index, double w) {
    at[count] = index;
    weight[count] = w;
    ++count;
  }
  [[nodiscard]] double value(const Eigen::VectorXd& v) const {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += weight[i] * v[at[i]];
    return sum;
  }
};

/// One weighted term of the fit: scale^2 * max(0, row - limit)^2 for bounds, without the max for
/// others.
struct CausalTerm {
  CausalRow row;
  double limit = 0;
  double scale = 1;
};

/// The second derivative of a causal fit's cost: bends of every clock, and the terms in force.
///
/// Few coupled clocks are factorised as one sparse matrix. Of many, whose factors fill up, only the
/// matrix of every clock by itself is factorised (its five diagonals), which preconditions conjugate
/// gradients; the determinant is estimated by stochastic Lanczos quadrature with probes that are
/// always the same (Ubaru, Chen, Saad, 2017). Deterministic; one thread.
class Curvature {
 public:
  /// `knots` unknowns per clock, one clock after the other.
  Curvature(std::size_t clocks, std::size_t knots);

  /// How to solve; `automatic` by the number of clocks that bounds couple.
  enum class Way { automatic, direct, iterative };

  /// bend * (second difference)^2 of all inner knots, `fixed` terms, and those of `bounds` for which
  /// `active` is true. False if the matrix is not positive definite. The terms must outlive the use.
  bool compute(double bend, const std::vector<CausalTerm>& fixed,
               const std::vector<CausalTerm>& bounds, const std::vector<bool>& active,
               Way way = Way::automatic);

  [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& right) const;
  [[nodiscard]] double log_determinant() const;

 private:
  using Vector = Eigen::VectorXd;
  /// L of a symmetric matrix of five diagonals, by rows: two left of the diagonal, the diagonal.
  struct BandRow {
    double left2 = 0, left1 = 0, diagonal = 0;
  };

  [[nodiscard]] bool few_are_coupled(const std::vector<CausalTerm>& bounds,
                                     const std::vector<bool>& active) const;
  bool factorize_all();
  bool factorize_clocks();
  void add_to_band(const CausalTerm& term);
  template <class Body>
  void for_bends(Body body) const;

  [[nodiscard]] Vector times(const Vector& v) const;           ///< the matrix itself
  void solve_lower(Vector& v) const;                           ///< v = L^-1 v
  void solve_upper(Vector& v) const;                           ///< v = L^-T v
  [[nodiscard]] double quadrature(std::size_t probe) const;    ///< of z' log(L^-1 H L^-T) z

  std::size_t clocks_, knots_;
  Eigen::Index size_;
  double bend_ = 0;
  std::vector<const CausalTerm*> terms_;  ///< all in force
  bool direct_ = true;
  Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>, Eigen::Lower> factor_;
  std::vector<BandRow> band_;  ///< per unknown
};

}  // namespace entrain::clock
