// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace entrain::fit {

/// Static condensation of the matrices of single clocks, five diagonals each: eliminates all knots
/// that no constraint touches. What remains is the Schur complement of the *interface*: the touched
/// knots of all clocks.
///
/// The knots of a clock between two touched places are a *chain*. They are eliminated in time
/// order, which needs no search for an order, and leaves entries between the two knots before the
/// chain and the two after it. If few constraints are active, nearly all unknowns are in chains.
/// The result for a chain stays valid as long as the chain stays one.
///
/// Example: 33 knots, and constraints touch 10, 11, 20 and 21. The chains are 0 to 9, 12 to 19, and
/// 22 to 32; 4 unknowns of the clock are in the interface. When another constraint touches 27 and
/// 28 as well, the first two chains are reused.
///
/// Unknowns are numbered clock by clock. Deterministic; one thread.
class StaticCondensation {
 public:
  /// Main diagonal, and the subdiagonals at distance one and two, each entry at the later unknown;
  /// 0 where a clock has no earlier one.
  struct Diagonals {
    std::vector<double> middle, sub1, sub2;
  };
  /// Sets the matrices of all clocks, without constraints.
  void set(std::size_t knots, Diagonals diagonals);
  /// Sets the interface. `touched`: per unknown, 1 if it belongs to it, else 0. Of a clock with
  /// any, at least two neighbouring knots do.
  void keep(std::span<const std::uint8_t> touched);
  /// Eliminates all chains. False if the matrix is not positive definite.
  [[nodiscard]] bool eliminate();

  [[nodiscard]] std::size_t interface_count() const { return interface_.size(); }
  /// Number of an unknown within the interface; it must belong to it.
  [[nodiscard]] std::size_t interface_number(std::size_t unknown) const { return number_[unknown]; }
  /// Approximate multiplications of an elimination.
  [[nodiscard]] double work() const;
  /// After eliminate(): calls `body` with row, column and value of the contributions of clocks and
  /// chains to the lower half of the Schur complement. Some entries repeat, and are to be added up.
  /// Their order is that of keep().
  template <class Body>
  void for_schur_entries(Body body) const;

  /// Condenses a right side. `v` has all unknowns, and becomes input of expand(). Returns the right
  /// side of the interface.
  [[nodiscard]] std::vector<double> condense(std::vector<double>& v) const;
  /// Back substitution: completes `v`, as condense() left it, by the solution of the interface.
  void expand(std::span<const double> interface, std::vector<double>& v) const;
  /// Log determinant of the eliminated part.
  [[nodiscard]] double log_determinant() const;

 private:
  /// Contribution of a chain to two neighbouring interface knots: both diagonals, and the entry
  /// between them.
  struct Added {
    double first = 0, second = 0, between = 0;
  };
  /// Consecutive knots of one clock.
  struct Chain {
    std::size_t first = 0, end = 0;
    /// Two interface knots precede or follow it.
    bool after_interface = false, before_interface = false;
    bool is_done = false;
    Added before, after;  ///< contributions to the two knots before it, and after it
    /// Entries between the first knot after it and both before it, then of the second knot.
    double first_first = 0, first_second = 0, second_first = 0, second_second = 0;
  };

  void keep(std::size_t begin, std::span<const std::uint8_t> touched);
  void close_chain(std::size_t end, bool before_interface);
  [[nodiscard]] bool eliminate(Chain& chain);

  std::size_t knots_ = 0;
  Diagonals diagonals_;                   ///< padded by two unknowns of 0
  std::vector<std::uint32_t> interface_;  ///< unknowns, ascending
  std::vector<std::uint8_t>
      /// Interface knots right before, at most 2; one entry per interface knot.
      neighbours_before_;
  std::vector<std::uint32_t> number_;  ///< number within the interface, one entry per unknown
  std::vector<Chain> chains_, known_;  ///< chains of the last keep(), and of the one before
  std::size_t next_known_ = 0;
  /// Row of L (unit diagonal) per unknown of a chain: entries with the last two interface knots
  /// before the chain and with the next two knots; and 1 / pivot.
  std::vector<double> before2_, before1_, next1_, next2_, inverse_;
};

template <class Body>
void StaticCondensation::for_schur_entries(Body body) const {
  for (std::size_t n = 0; n < interface_.size(); ++n) {
    const std::size_t i = interface_[n];
    body(n, n, diagonals_.middle[i]);
    if (neighbours_before_[n] >= 1) body(n, n - 1, diagonals_.sub1[i]);
    if (neighbours_before_[n] >= 2) body(n, n - 2, diagonals_.sub2[i]);
  }
  const auto add = [&](std::size_t at, const Added& added) {
    body(at, at, added.first);
    body(at + 1, at, added.between);
    body(at + 1, at + 1, added.second);
  };
  for (const Chain& chain : chains_) {
    const std::size_t p = chain.after_interface ? number_[chain.first - 2] : 0;
    const std::size_t r = chain.before_interface ? number_[chain.end] : 0;
    if (chain.after_interface) add(p, chain.before);
    if (chain.before_interface) add(r, chain.after);
    if (!chain.after_interface || !chain.before_interface) continue;
    body(r, p, chain.first_first);
    body(r, p + 1, chain.first_second);
    body(r + 1, p, chain.second_first);
    body(r + 1, p + 1, chain.second_second);
  }
}

}  // namespace entrain::fit
