// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <Eigen/Core>
#include <Eigen/OrderingMethods>
#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include <entrain/progress.hpp>

#include "base/cancel.hpp"
#include "fit/block_band.hpp"
#include "fit/terms.hpp"

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

/// The way in which Curvature solves its equations. `automatic`: a band of dense blocks, a sparse
/// factorisation or conjugate gradients, whichever takes the fewest multiplications.
enum class SolveMethod { automatic, direct, iterative };

/// Hessian of the cost of a fit: fixed terms, which are those of single clocks, and active
/// constraints.
///
/// The matrix is factorised as a whole where that is cheap: as a band of dense blocks if most
/// clocks are coupled with most others, else by a sparse factorisation. Where fill-in makes that
/// costly, conjugate gradients are preconditioned by the factors of single clocks (block Jacobi).
/// Deterministic; one thread.
class Curvature {
 public:
  /// `knots` unknowns per clock, one clock after the other. `scale`: 1 / sigma of the constraints.
  Curvature(std::size_t clocks, std::size_t knots, double scale);
  Curvature(const Curvature&) = delete;
  Curvature& operator=(const Curvature&) = delete;

  /// Starts a fit without constraints: resets work() and the methods found too costly.
  void begin();
  /// Sets the constraints whose numbers compute() takes; they must outlive the fit. The previous
  /// ones must be a prefix of them.
  void set_constraints(std::span<const FitConstraint> constraints);

  /// Lets solve() end early, with any result, once `progress` (may be null) is cancelled.
  void stop_with(const Progress* progress) { cancel_ = Cancel(progress); }

  /// Builds and factorises the sum of `fixed` and the terms of the constraints `active`, each
  /// multiplied by its share (no shares: 1). False if the matrix is not positive definite.
  bool compute(const FitMatrix& fixed, std::span<const std::uint32_t> active,
               SolveMethod method = SolveMethod::automatic, std::span<const double> shares = {});

  /// Solves directly, or by conjugate gradients until the preconditioned residual is `tolerance` of
  /// the initial one.
  [[nodiscard]] std::vector<double> solve(std::span<const double> right, double tolerance = 1e-7);
  /// Infinite if the matrix is not factorised as a whole.
  [[nodiscard]] double log_determinant() const;

  /// True if the matrix of the last compute() is not factorised as a whole.
  [[nodiscard]] bool is_iterative() const { return way_ == Way::clocks; }
  /// True if the factorisation with all constraints would cost many times the limit, so that
  /// methods that need it are not worth trying. The estimate is close if constraints touch most
  /// knots, and too high if constraints are few.
  [[nodiscard]] bool is_clearly_costly();
  /// Approximate multiplications since begin(); the same on every machine.
  [[nodiscard]] double work() const { return work_; }
  /// Multiplications of one compute() in a band of dense blocks.
  [[nodiscard]] static double work_in_band(std::size_t clocks, std::size_t knots);

 private:
  /// The matrix that the last compute() factorised.
  enum class Way { band, whole, clocks };

  [[nodiscard]] bool is_dense() const;
  [[nodiscard]] double estimated_work() const;
  bool factorise_band(const FitMatrix& fixed, std::span<const std::uint32_t> active,
                      std::span<const double> shares);
  void assemble(const FitMatrix& fixed, std::span<const std::uint32_t> active,
                std::span<const double> shares);
  void build(const FitMatrix& fixed);
  std::optional<bool> factorise_whole(bool is_limited);
  bool factorise_clocks();
  [[nodiscard]] double weight(std::span<const double> shares, std::size_t n) const {
    return shares.empty() ? weight_ : shares[n] * weight_;
  }
  [[nodiscard]] Eigen::VectorXd solve_iteratively(const Eigen::VectorXd& right, double tolerance);

  std::size_t clocks_, knots_;
  std::span<const FitConstraint> constraints_;
  double weight_;  ///< 1 / sigma^2 of the constraints
  Cancel cancel_{nullptr};
  double work_ = 0;
  Way way_ = Way::whole;
  /// Constraints with entries in `matrix_`: the active ones, and formerly active ones with zeros,
  /// so that the order of elimination stays valid.
  std::vector<std::uint32_t> kept_;
  std::vector<double> weights_;  ///< weights of all constraints
  FitMatrix matrix_;
  bool is_analysed_ = false;  ///< `factor_` knows the pattern of `matrix_`
  /// Entries of a matrix known to cost too much.
  Eigen::Index costly_ = std::numeric_limits<Eigen::Index>::max();
  SparseFactor<Eigen::AMDOrdering<int>> factor_;
  FitMatrix by_knots_;  ///< `matrix_` for conjugate gradients, with unknowns knot by knot
  /// Factors of the matrices of single clocks, five diagonals each.
  SparseFactor<Eigen::NaturalOrdering<int>> clock_factors_;
  BlockBand band_;
  /// Whether constraints couple two clocks: one per pair; empty if a band would cost too much.
  std::vector<std::uint8_t> coupled_;
  std::size_t pairs_ = 0;  ///< coupled ones
  /// Multiplications with all constraints; empty: not yet estimated.
  std::optional<double> estimated_work_;
};

}  // namespace entrain::fit
