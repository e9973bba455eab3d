// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <entrain/progress.hpp>

namespace entrain::fit {

/// A quadratic term of the cost: (scale * value)^2 of one clock at one time, between two knots.
struct FitTerm {
  std::uint32_t at = 0;  ///< unknown of the first of two neighbouring knots
  double share = 0;      ///< position between the knots: 0 at `at`, 1 at the next
  double scale = 1;

  [[nodiscard]] double value(std::span<const double> v) const {
    return (1 - share) * v[at] + share * v[at + 1];
  }
};

/// A one-sided term of the cost: scale^2 * max(0, excess)^2, where excess = e_to - e_from - bound.
/// All have one scale.
struct FitConstraint {
  std::uint32_t to = 0, from = 0;       ///< see FitTerm::at
  double to_share = 0, from_share = 0;  ///< see FitTerm::share
  double bound = 0;

  [[nodiscard]] double excess(std::span<const double> v) const {
    return (1 - to_share) * v[to] + to_share * v[to + 1] - (1 - from_share) * v[from] -
           from_share * v[from + 1] - bound;
  }
  /// Largest change of excess() if no unknown moves by more than 1.
  [[nodiscard]] double sensitivity() const {
    return std::abs(1 - to_share) + std::abs(to_share) + std::abs(1 - from_share) +
           std::abs(from_share);
  }
  /// Adds the contribution of this constraint with a dual variable to a gradient.
  void push(std::span<double> gradient, double dual) const {
    gradient[to] += dual * (1 - to_share);
    gradient[to + 1] += dual * to_share;
    gradient[from] -= dual * (1 - from_share);
    gradient[from + 1] -= dual * from_share;
  }
};

/// Inner product of two vectors of one length. Adds in the order of the vector unit, unlike a plain
/// loop.
[[nodiscard]] double inner_product(std::span<const double> a, std::span<const double> b);

/// How Curvature solves its equations. `automatic`: a band of dense blocks, a sparse factorisation
/// or conjugate gradients, whichever takes the fewest multiplications.
enum class SolveMethod { automatic, direct, iterative };

/// Hessian of the cost of a fit: bends of every clock, fixed terms and active constraints.
///
/// The matrix has five diagonals per clock. All constraints between two pieces of clocks share one
/// block of two by two. The matrix is factorised as a whole where that is cheap: as a band of dense
/// blocks if most clocks are coupled with most others, else by static condensation of the knots
/// without constraints and a sparse factorisation of the rest. Where the factors would fill up,
/// conjugate gradients are preconditioned by the factors of every clock by itself, and stochastic
/// Lanczos quadrature with fixed probes estimates the determinant (Ubaru, Chen, Saad, 2017).
/// Deterministic; one thread.
class Curvature {
 public:
  /// `knots` unknowns per clock, one clock after the other. The terms must outlive this. `scale`: 1
  /// / sigma of the constraints.
  Curvature(std::size_t clocks, std::size_t knots, std::span<const FitTerm> fixed,
            std::span<const FitConstraint> constraints, double scale);
  ~Curvature();
  Curvature(const Curvature&) = delete;
  Curvature& operator=(const Curvature&) = delete;

  /// Sets the constraints that compute() numbers; they must stay. The previous ones are a prefix of
  /// them.
  void set_constraints(std::span<const FitConstraint> constraints);

  /// Starts a fit: resets work() and the methods found too expensive.
  void begin();

  /// Lets solve() and log_determinant() end early, with any result, once `progress` (may be null)
  /// is cancelled.
  void stop_with(const Progress* progress);

  /// Builds and factorises bend * (second difference)^2 of all inner knots, all fixed terms, and
  /// the constraints `active`, each times its share (none given: 1). False if the matrix is not
  /// positive definite.
  bool compute(double bend, std::span<const std::uint32_t> active,
               SolveMethod method = SolveMethod::automatic, std::span<const double> shares = {});

  /// Solves directly, or by conjugate gradients until the preconditioned residual is `tolerance` of
  /// the initial one.
  [[nodiscard]] std::vector<double> solve(std::span<const double> right, double tolerance = 1e-7);
  [[nodiscard]] double log_determinant();

  /// True if the matrix of the last compute() is not factorised as a whole.
  [[nodiscard]] bool is_iterative() const;
  /// True if the factorisation with all constraints would cost many times the limit, so that
  /// methods that need it need not be tried.
  [[nodiscard]] bool is_clearly_costly();
  /// Approximate multiplications since begin(); the same on every machine.
  [[nodiscard]] double work() const;
  /// Multiplications of one compute() in a band of dense blocks.
  [[nodiscard]] static double work_in_band(std::size_t clocks, std::size_t knots);

 private:
  class Matrices;  // keeps the linear algebra library out of this header
  std::unique_ptr<Matrices> matrices_;
};

}  // namespace entrain::fit
