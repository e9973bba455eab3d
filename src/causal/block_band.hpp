// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "base/two_threads.hpp"

namespace entrain::causal {

/// Cholesky factor of a block-banded symmetric positive definite matrix: unknowns are the values of
/// clocks at knots, and only knots at most two apart have common entries.
///
/// All clocks of a knot are one dense block. Knots are eliminated from both ends of the run towards
/// its middle, so two threads can work on it without additional fill-in. It suits clocks that are
/// mostly coupled with each other: no order of elimination is needed, and all work is on dense
/// panels. Deterministic for any number of threads.
///
/// Example: of 6 knots, 0 and 1 are eliminated from the left, 5 and 4 from the right; 2 and 3 are
/// the middle, to which both sides contribute.
class BlockBand {
 public:
  static constexpr std::size_t k_reach = 2;  ///< largest distance of knots with common entries

  /// Multiplications of a factorisation, about. `knots`: at least 3.
  [[nodiscard]] static double work(std::size_t clocks, std::size_t knots);

  /// Starts a matrix of zeros.
  void clear(std::size_t clocks, std::size_t knots, TwoThreads& halves);
  struct Value {
    std::size_t knot = 0, clock = 0;
  };
  /// Adds to the entry of two unknowns and to the mirrored one.
  void add(const Value& one, const Value& other, double value);
  /// First knot of the right side. add() to knots before it touches the left side alone, and add()
  /// to later knots the right one: two threads may call it at once.
  [[nodiscard]] static std::size_t middle_end(std::size_t knots) {
    return (knots - k_reach) / 2 + k_reach;
  }
  /// False if the matrix is not positive definite.
  bool factorise(TwoThreads& halves);
  /// After factorise(). Solves in place; `v` has the clocks of a knot side by side.
  void solve(std::span<double> v, TwoThreads& halves) const;
  [[nodiscard]] double log_determinant() const;

 private:
  /// Knots of one side in the order of elimination, and their contribution to the two knots of the
  /// middle.
  struct Side {
    std::size_t clocks = 0, count = 0;  ///< numbers of clocks, and of knots without the middle
    /// Panel of each knot: columns are its clocks, rows those of three knots.
    std::vector<double> panels;
    std::vector<double> middle;

    void clear(std::size_t clocks, std::size_t count);
    [[nodiscard]] double* panel(std::size_t at) { return panels.data() + at * panel_size(); }
    [[nodiscard]] const double* panel(std::size_t at) const {
      return panels.data() + at * panel_size();
    }
    [[nodiscard]] std::size_t panel_size() const { return 3 * clocks * clocks; }
    void add(Value one, Value other, double value);
    bool factorise();
    /// Diagonal block of a knot, and the distance between its columns.
    [[nodiscard]] double* diagonal_block(std::size_t at);
    [[nodiscard]] std::ptrdiff_t distance(std::size_t at) const;
  };
  [[nodiscard]] std::size_t middle_end() const { return sides_[0].count + k_reach; }
  /// Matrix entries that a pass over both sides touches.
  [[nodiscard]] std::size_t size() const { return 3 * clocks_ * clocks_ * knots_; }
  void join_middle();

  std::size_t all_clocks_ = 0;  ///< clocks without padding
  std::size_t clocks_ = 0, knots_ = 0;
  std::array<Side, 2> sides_;
  std::vector<double> middle_;
};

// Called for every constraint of a fit in every step.

inline void BlockBand::add(const Value& one, const Value& other, double value) {
  // Entries between knots of the middle belong to the left side.
  if (std::max(one.knot, other.knot) < middle_end()) {
    sides_[0].add(one, other, value);
  } else {
    const std::size_t last = knots_ - 1;
    sides_[1].add({last - one.knot, one.clock}, {last - other.knot, other.clock}, value);
  }
}

/// Knots are numbered in the order of this side.
inline void BlockBand::Side::add(Value one, Value other, double value) {
  if (one.knot > other.knot || (one.knot == other.knot && one.clock > other.clock)) {
    std::swap(one, other);
  }
  const std::size_t row = (other.knot - one.knot) * clocks + other.clock;
  diagonal_block(one.knot)[one.clock * static_cast<std::size_t>(distance(one.knot)) + row] += value;
}

inline double* BlockBand::Side::diagonal_block(std::size_t at) {
  if (at < count) return panel(at);
  return middle.data() + (at - count) * clocks * (2 * clocks + 1);
}

inline std::ptrdiff_t BlockBand::Side::distance(std::size_t at) const {
  return static_cast<std::ptrdiff_t>((at < count ? 3 : 2) * clocks);
}

}  // namespace entrain::causal
