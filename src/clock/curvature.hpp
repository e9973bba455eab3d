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
/// Where that costs little it is factorised as one sparse matrix. Of many clocks that hang
/// together, whose factors fill up, only the matrix of every clock by itself is factorised (its
/// five diagonals), which preconditions conjugate gradients; the determinant is estimated by
/// stochastic Lanczos quadrature with probes that are always the same (Ubaru, Chen, Saad, 2017).
/// Deterministic; one thread.
class Curvature {
 public:
  /// `knots` unknowns per clock, one clock after the other.
  Curvature(std::size_t clocks, std::size_t knots);

  /// How to solve; `automatic` by what the factors would cost.
  enum class Way { automatic, direct, iterative };

  /// bend * (second difference)^2 of all inner knots, `fixed` terms, and those of `bounds` for
  /// which `active` is true. False if the matrix is not positive definite.
  bool compute(double bend, const std::vector<CausalTerm>& fixed,
               const std::vector<CausalTerm>& bounds, const std::vector<bool>& active,
               Way way = Way::automatic);

  [[nodiscard]] Eigen::VectorXd solve(const Eigen::VectorXd& right);
  [[nodiscard]] double log_determinant();

  /// Multiplications so far, about: the same on every machine.
  [[nodiscard]] double work() const { return work_; }

 private:
  using Vector = Eigen::VectorXd;
  using Matrix = Eigen::SparseMatrix<double>;

  /// Tells what a factorisation will cost.
  class Factor : public Eigen::SimplicialLDLT<Matrix, Eigen::Lower> {
   public:
    [[nodiscard]] double work() const;
  };

  template <class Body>
  void for_terms(const std::vector<CausalTerm>& fixed, const std::vector<CausalTerm>& bounds,
                 const std::vector<bool>& active, Body body) const;
  [[nodiscard]] Matrix assembled(const std::vector<CausalTerm>& fixed,
                                 const std::vector<CausalTerm>& bounds,
                                 const std::vector<bool>& active) const;
  bool factorize_clocks();
  void add_to_band(const CausalRow& row);

  // What follows numbers unknowns knot by knot, all clocks of a knot side by side.
  [[nodiscard]] Vector by_knots(const Vector& by_clocks) const;
  [[nodiscard]] Vector by_clocks(const Vector& by_knots) const;
  [[nodiscard]] Vector times(const Vector& v);         ///< the matrix itself
  void solve_lower(Vector& v);                         ///< v = L^-1 v
  void solve_upper(Vector& v);                         ///< v = L^-T v
  [[nodiscard]] double quadrature(std::size_t probe);  ///< of z' log(L^-1 H L^-T) z

  Eigen::Index clocks_, knots_, size_;
  double bend_ = 0;
  double work_ = 0;
  bool direct_ = true;
  Factor factor_;
  std::vector<CausalRow> rows_;  ///< of all terms in force, scaled
  /// L of the matrices of the clocks: left of the diagonal by one knot and by two, and 1 /
  /// diagonal.
  Vector left1_, left2_, inverse_;
};

}  // namespace entrain::clock
