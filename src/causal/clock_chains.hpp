// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace entrain::causal {

/// The matrices of single clocks, five diagonals each, with all knots eliminated that no limit
/// touches. What remains is the *core*: the knots that limits touch, of all clocks.
///
/// The knots of a clock between two touched places are a run. They are eliminated in time order:
/// that needs no search for an order, and leaves entries between the two knots before the run and
/// the two after it. Where few limits hold many clocks, nearly all unknowns go this way.
///
/// Example: 33 knots, and limits touch 10, 11, 20 and 21. The runs are 0 to 9, 12 to 19, and 22 to
/// 32; the core has 4 unknowns of the clock, each joined to the others.
///
/// Unknowns are numbered clock by clock. Deterministic; one thread.
class ClockChains {
 public:
  /// Says which knots are the core. `touched`: per unknown, not 0 if it is; a clock that has any
  /// has two neighbouring ones at least wherever it has one.
  void keep(std::size_t knots, std::span<const std::uint8_t> touched);

  /// Unknowns of the core.
  [[nodiscard]] std::size_t core_size() const { return core_.size(); }
  /// The number of an unknown in the core; it must belong there.
  [[nodiscard]] std::size_t core_number(std::size_t unknown) const { return number_[unknown]; }
  /// Multiplications of an elimination, about.
  [[nodiscard]] double work() const;

  /// The five diagonals: that in the middle, and those beside it by one knot and by two, each entry
  /// at the later unknown; 0 where a clock has no earlier one.
  struct Diagonals {
    std::vector<double> middle, beside1, beside2;
  };
  /// Eliminates all runs. False if the matrix is not positive definite.
  [[nodiscard]] bool eliminate(Diagonals diagonals);

  /// After eliminate(): calls `body` with row, column and value of the entries that clocks add to
  /// the lower half of the core, every one once. Their order is that of keep().
  template <class Body>
  void for_core_entries(Body body) const;

  /// Solves for the core what eliminated knots say: `v` has all unknowns, and becomes what only
  /// solve_runs() understands. Returns the right side for the core.
  [[nodiscard]] std::vector<double> right_of_core(std::vector<double>& v) const;
  /// Completes `v`, as right_of_core() left it, by the solution for the core.
  void solve_runs(std::span<const double> core, std::vector<double>& v) const;
  /// Of the eliminated part.
  [[nodiscard]] double log_determinant() const;

 private:
  /// Knots of one clock one after the other.
  struct Run {
    std::size_t first = 0, end = 0;
    bool after_core = false;  ///< two knots of the core come right before it
  };
  /// What an unknown of the core has entries with, among those of its clock before it.
  enum class Beside : std::uint8_t {
    nothing,
    one,          ///< the knot before it
    two,          ///< the two knots before it
    run,          ///< the two of the core before the run that ends there
    run_and_one,  ///< the knot before it, and those
  };

  void keep(std::size_t begin, std::size_t end, std::span<const std::uint8_t> touched);
  [[nodiscard]] bool eliminate(const Run& run);

  std::vector<std::uint32_t> core_;    ///< unknowns, ascending
  std::vector<Beside> beside_;         ///< per unknown of the core
  std::vector<std::uint32_t> number_;  ///< per unknown: in the core, if it is there
  std::vector<Run> runs_;
  Diagonals diagonals_;  ///< what is left of them, for the core
  /// Per unknown: its entries with the last two knots of the core before its run. Of a run, they
  /// are those of L, which has 1 on its diagonal, as are those with the next two knots.
  std::vector<double> before2_, before1_, next1_, next2_;
  std::vector<double> inverse_;  ///< 1 / pivot
};

template <class Body>
void ClockChains::for_core_entries(Body body) const {
  for (std::size_t n = 0; n < core_.size(); ++n) {
    const std::size_t i = core_[n];
    const Beside beside = beside_[n];
    body(n, n, diagonals_.middle[i]);
    if (beside == Beside::run) {
      body(n, n - 1, before1_[i]);
      body(n, n - 2, before2_[i]);
    } else if (beside != Beside::nothing) {
      body(n, n - 1, diagonals_.beside1[i]);
      if (beside == Beside::two) body(n, n - 2, diagonals_.beside2[i]);
    }
    if (beside == Beside::run_and_one) {
      body(n, n - 2, before1_[i]);
      body(n, n - 3, before2_[i]);
    }
  }
}

}  // namespace entrain::causal
