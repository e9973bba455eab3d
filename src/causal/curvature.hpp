// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace entrain::causal {

/// A linear function of the values at two neighbouring knots of one clock, or of those of one clock
/// and of another one.
struct FitRow {
  std::array<std::size_t, 4> at{};  ///< unknowns; at[1] = at[0] + 1, at[3] = at[2] + 1
  std::array<double, 4> weight{};
  std::size_t count = 0;  ///< 2 or 4

  void add(std::size_t index, double w) {
    at[count] = index;
    weight[count] = w;
    ++count;
  }
  [[nodiscard]] double value(std::span<const double> v) const {
    double sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += weight[i] * v[at[i]];
    return sum;
  }
};

/// A weighted term of the fit: scale^2 * max(0, row - limit)^2 for constraints, without the max
/// for others.
struct FitTerm {
  FitRow row;
  double limit = 0;
  double scale = 1;
};

/// Sum of the products of two vectors of one length. Adds in the order of the solver's vector unit,
/// which a plain loop would not.
[[nodiscard]] double inner_product(std::span<const double> a, std::span<const double> b);

/// The second derivative of a causal fit's cost: bends of every clock, and the terms in force.
///
/// The matrix has five diagonals per clock. Any two pieces of clocks that constraints join add a
/// block of two by two, however many constraints do. The matrix is factorised as a whole where that
/// costs little. The factors of many clocks that hang together fill up: then only the matrix of
/// every clock by itself is factorised, as a preconditioner of conjugate gradients, and the
/// determinant is estimated by stochastic Lanczos quadrature with probes that are always the same
/// (Ubaru, Chen, Saad, 2017). Deterministic; one thread.
class Curvature {
 public:
  /// `knots` unknowns per clock, one clock after the other. The terms must outlive this: `fixed` of
  /// one clock each, `constraints` of two.
  Curvature(std::size_t clocks, std::size_t knots, const std::vector<FitTerm>& fixed,
            const std::vector<FitTerm>& constraints);
  ~Curvature();
  Curvature(const Curvature&) = delete;
  Curvature& operator=(const Curvature&) = delete;

  /// How to solve; `automatic` by the cost of the factors.
  enum class Way { automatic, direct, iterative };

  /// Builds and factorises bend * (second difference)^2 of all inner knots, all fixed terms, and
  /// the constraints for which `active` is true. False if the matrix is not positive definite.
  bool compute(double bend, const std::vector<bool>& active, Way way = Way::automatic);

  /// Solves exactly, or, where that costs too much, until the residual is `tolerance` of what it
  /// was, weighed by the matrices of the single clocks.
  [[nodiscard]] std::vector<double> solve(std::span<const double> right, double tolerance = 1e-7);
  [[nodiscard]] double log_determinant();

  /// True if the matrix of the last compute() is not factorised as a whole.
  [[nodiscard]] bool is_iterative() const;
  /// Multiplications so far, about: the same on every machine.
  [[nodiscard]] double work() const;

 private:
  class Matrices;  // keeps the linear algebra library out of this header
  std::unique_ptr<Matrices> matrices_;
};

}  // namespace entrain::causal
