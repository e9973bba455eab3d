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

/// Cholesky's factor of a symmetric positive definite matrix over the values of clocks at knots in
/// which only knots at most two apart have entries in common.
///
/// All clocks of a knot are one dense block. Knots are eliminated from both ends of the run towards
/// its middle, so two threads can do it, and nothing fills up that would not by going one way. This
/// is for clocks of which most meet most others: it needs no order of elimination, and all work is
/// on dense panels. Deterministic: the same for any number of threads.
///
/// Example: of 6 knots, 0 and 1 are eliminated from the left, 5 and 4 from the right; 2 and 3 are
/// the middle, to which both sides contribute.
class BlockBand {
 public:
  /// Knots may be apart by that much.
  static constexpr std::size_t k_reach = 2;

  /// Multiplications of a factorisation, about. `knots`: at least 3.
  [[nodiscard]] static double work(std::size_t clocks, std::size_t knots);

  /// Begins a matrix of zeros.
  void clear(std::size_t clocks, std::size_t knots, TwoThreads& halves);
  /// An unknown.
  struct Value {
    std::size_t knot = 0, clock = 0;
  };
  /// Adds to the entry of two unknowns, and to the one mirrored.
  void add(const Value& one, const Value& other, double value);
  /// What is added to entries of knots before this one concerns the left side alone, and what is
  /// added to those from it on the right one: two threads may do so at once.
  [[nodiscard]] static std::size_t middle_end(std::size_t knots) {
    return (knots - k_reach) / 2 + k_reach;
  }
  /// False if the matrix is not positive definite.
  bool factorise(TwoThreads& halves);
  /// After factorise(). Solves in place; `v` has the clocks of a knot side by side.
  void solve(std::span<double> v, TwoThreads& halves) const;
  [[nodiscard]] double log_determinant() const;

 private:
  /// The knots of one side in the order of elimination, and what they contribute to the two of the
  /// middle.
  struct Side {
    std::size_t clocks = 0, count = 0;  ///< count: of knots, without the middle
    std::vector<double> panels;  ///< per knot: its clocks as columns, those of three knots as rows
    std::vector<double> middle;

    void clear(std::size_t clocks, std::size_t count);
    [[nodiscard]] double* panel(std::size_t at) { return panels.data() + at * panel_size(); }
    [[nodiscard]] const double* panel(std::size_t at) const {
      return panels.data() + at * panel_size();
    }
    [[nodiscard]] std::size_t panel_size() const { return 3 * clocks * clocks; }
    void add(Value one, Value other, double value);
    bool factorise();
    /// Where the block of a knot is that was or will be eliminated, and the distance of its
    /// columns.
    [[nodiscard]] double* diagonal_block(std::size_t at);
    [[nodiscard]] std::ptrdiff_t distance(std::size_t at) const;
  };
  [[nodiscard]] std::size_t middle_end() const { return sides_[0].count + k_reach; }
  /// Numbers that a pass over both sides touches.
  [[nodiscard]] std::size_t size() const { return 3 * clocks_ * clocks_ * knots_; }
  void join_middle();

  std::size_t all_clocks_ = 0;  ///< clocks that there are
  std::size_t clocks_ = 0, knots_ = 0;
  std::array<Side, 2> sides_;
  std::vector<double> middle_;
};

// Called for every limit of a fit in every step.

inline void BlockBand::add(const Value& one, const Value& other, double value) {
  // What knots of the middle have in common counts on the left.
  if (std::max(one.knot, other.knot) < middle_end()) {
    sides_[0].add(one, other, value);
  } else {
    const std::size_t last = knots_ - 1;
    sides_[1].add({last - one.knot, one.clock}, {last - other.knot, other.clock}, value);
  }
}

/// Knots are numbered in the order of this side here.
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
