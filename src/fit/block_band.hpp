// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace entrain::fit {

/// Cholesky factor of a block-banded symmetric positive definite matrix: unknowns are the values of
/// clocks at knots, and only knots at most two apart have common entries.
///
/// All clocks of a knot are one dense block. Knots are eliminated in order of time. It suits clocks
/// that are mostly coupled with each other: no order of elimination is needed, and all work is on
/// dense panels. Deterministic.
class BlockBand {
 public:
  static constexpr std::size_t k_reach = 2;  ///< largest distance of knots with common entries

  /// Multiplications of a factorisation, about.
  [[nodiscard]] static double work(std::size_t clocks, std::size_t knots);

  /// Starts a matrix of zeros.
  void clear(std::size_t clocks, std::size_t knots);
  struct Value {
    std::size_t knot = 0, clock = 0;
  };
  /// Adds to the entry of two unknowns and to the mirrored one.
  void add(Value one, Value other, double value);
  /// False if the matrix is not positive definite.
  bool factorise();
  /// After factorise(). Solves in place; `v` has the clocks of a knot side by side.
  void solve(std::span<double> v) const;
  [[nodiscard]] double log_determinant() const;

 private:
  [[nodiscard]] std::size_t rows() const { return (k_reach + 1) * clocks_; }
  [[nodiscard]] double* panel(std::size_t knot) { return panels_.data() + knot * rows() * clocks_; }
  [[nodiscard]] const double* panel(std::size_t knot) const {
    return panels_.data() + knot * rows() * clocks_;
  }

  std::size_t all_clocks_ = 0;  ///< clocks without padding
  std::size_t clocks_ = 0, knots_ = 0;
  /// Panel of each knot: columns are its clocks, rows those of three knots. Rows beyond the last
  /// knot stay 0.
  std::vector<double> panels_;
};

// Called for every constraint of a fit in every step.
inline void BlockBand::add(Value one, Value other, double value) {
  if (one.knot > other.knot || (one.knot == other.knot && one.clock > other.clock))
    std::swap(one, other);
  const std::size_t row = (other.knot - one.knot) * clocks_ + other.clock;
  panel(one.knot)[one.clock * rows() + row] += value;
}

}  // namespace entrain::fit
