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
/// the two after it. Where few limits hold many clocks, nearly all unknowns go this way. No limit
/// is in a run, so what was found of one holds as long as it stays a run.
///
/// Example: 33 knots, and limits touch 10, 11, 20 and 21. The runs are 0 to 9, 12 to 19, and 22 to
/// 32; the core has 4 unknowns of the clock, each joined to the others. When another limit touches
/// 27 and 28 as well, the first two runs are known already.
///
/// Unknowns are numbered clock by clock. Deterministic; one thread.
class ClockChains {
 public:
  /// The five diagonals: that in the middle, and those beside it by one knot and by two, each entry
  /// at the later unknown; 0 where a clock has no earlier one.
  struct Diagonals {
    std::vector<double> middle, beside1, beside2;
  };
  /// Sets the matrices of all clocks, without limits.
  void set(std::size_t knots, Diagonals diagonals);
  /// Says which knots are the core. `touched`: per unknown, 1 if it is and 0 if not; wherever a
  /// clock has any, it has two neighbouring ones at least.
  void keep(std::span<const std::uint8_t> touched);
  /// Eliminates all runs. False if the matrix is not positive definite.
  [[nodiscard]] bool eliminate();

  /// Unknowns of the core.
  [[nodiscard]] std::size_t core_size() const { return core_.size(); }
  /// The number of an unknown in the core; it must belong there.
  [[nodiscard]] std::size_t core_number(std::size_t unknown) const { return number_[unknown]; }
  /// Multiplications of an elimination, about.
  [[nodiscard]] double work() const;
  /// After eliminate(): calls `body` with row, column and value of the entries that clocks add to
  /// the lower half of the core; some more than once, to be added up. Their order is that of
  /// keep().
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
  /// What a run adds to two neighbouring knots of the core: to both diagonals, and between them.
  struct Added {
    double first = 0, second = 0, between = 0;
  };
  /// Knots of one clock one after the other.
  struct Run {
    std::size_t first = 0, end = 0;
    bool after_core = false, before_core = false;  ///< knots of the core come right before or after
    bool is_done = false;
    Added before, after;  ///< to the two knots of the core before it, and after it
    /// Between the first of these after it and both before it, then the second of these.
    double first_first = 0, first_second = 0, second_first = 0, second_second = 0;
  };

  void keep(std::size_t begin, std::span<const std::uint8_t> touched);
  void close_run(std::size_t end, bool before_core);
  [[nodiscard]] bool eliminate(Run& run);

  std::size_t knots_ = 0;
  Diagonals diagonals_;               ///< with two unknowns more, of 0
  std::vector<std::uint32_t> core_;   ///< unknowns, ascending
  std::vector<std::uint8_t> beside_;  ///< per unknown of the core: how many right before it are too
  std::vector<std::uint32_t> number_;  ///< per unknown: in the core, if it is there
  std::vector<Run> runs_, known_;      ///< those of the last keep(), and of the one before
  std::size_t next_known_ = 0;
  /// Per unknown of a run: its entries in L, which has 1 on its diagonal, with the last two knots
  /// of the core before its run and with the next two knots, and 1 / pivot.
  std::vector<double> before2_, before1_, next1_, next2_, inverse_;
};

template <class Body>
void ClockChains::for_core_entries(Body body) const {
  for (std::size_t n = 0; n < core_.size(); ++n) {
    const std::size_t i = core_[n];
    body(n, n, diagonals_.middle[i]);
    if (beside_[n] >= 1) body(n, n - 1, diagonals_.beside1[i]);
    if (beside_[n] >= 2) body(n, n - 2, diagonals_.beside2[i]);
  }
  const auto add = [&](std::size_t at, const Added& added) {
    body(at, at, added.first);
    body(at + 1, at, added.between);
    body(at + 1, at + 1, added.second);
  };
  for (const Run& run : runs_) {
    const std::size_t p = run.after_core ? number_[run.first - 2] : 0;
    const std::size_t r = run.before_core ? number_[run.end] : 0;
    if (run.after_core) add(p, run.before);
    if (run.before_core) add(r, run.after);
    if (!run.after_core || !run.before_core) continue;
    body(r, p, run.first_first);
    body(r, p + 1, run.first_second);
    body(r + 1, p, run.second_first);
    body(r + 1, p + 1, run.second_second);
  }
}

}  // namespace entrain::causal
