// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace entrain::causal {

/// The matrices of single clocks, five diagonals each, with all knots eliminated that no constraint
/// touches. What remains are the *joints*: the knots that constraints touch, of all clocks.
///
/// The knots of a clock between two touched places are a *chain*. They are eliminated in time
/// order: that needs no search for an order, and leaves entries between the two knots before the
/// chain and the two after it. Where few constraints hold many clocks, nearly all unknowns go this
/// way. No constraint is in a chain, so what was found of one holds as long as it stays a chain.
///
/// Example: 33 knots, and constraints touch 10, 11, 20 and 21. The chains are 0 to 9, 12 to 19, and
/// 22 to 32; 4 unknowns of the clock are joints, each with entries for all others. When another
/// constraint touches 27 and 28 as well, the first two chains are known already.
///
/// Unknowns are numbered clock by clock. Deterministic; one thread.
class StaticCondensation {
 public:
  /// The five diagonals: that in the middle, and those beside it by one knot and by two, each entry
  /// at the later unknown; 0 where a clock has no earlier one.
  struct Diagonals {
    std::vector<double> middle, sub1, sub2;
  };
  /// Sets the matrices of all clocks, without constraints.
  void set(std::size_t knots, Diagonals diagonals);
  /// Says which knots are the joints. `touched`: per unknown, 1 if it is and 0 if not; wherever a
  /// clock has any, it has two neighbouring ones at least.
  void keep(std::span<const std::uint8_t> touched);
  /// Eliminates all chains. False if the matrix is not positive definite.
  [[nodiscard]] bool eliminate();

  /// How many unknowns are joints.
  [[nodiscard]] std::size_t interface_count() const { return interface_.size(); }
  /// The number of an unknown among the joints; it must be one.
  [[nodiscard]] std::size_t interface_number(std::size_t unknown) const { return number_[unknown]; }
  /// Multiplications of an elimination, about.
  [[nodiscard]] double work() const;
  /// After eliminate(): calls `body` with row, column and value of the entries that clocks add to
  /// the lower half of the matrix of the joints; some more than once, to be added up. Their order
  /// is that of keep().
  template <class Body>
  void for_schur_entries(Body body) const;

  /// Solves for the joints what eliminated knots say: `v` has all unknowns, and becomes what only
  /// expand() understands. Returns the right side for the joints.
  [[nodiscard]] std::vector<double> condense(std::vector<double>& v) const;
  /// Completes `v`, as condense() left it, by the solution for the joints.
  void expand(std::span<const double> joints, std::vector<double>& v) const;
  /// Of the eliminated part.
  [[nodiscard]] double log_determinant() const;

 private:
  /// What a chain adds to two neighbouring joints: to both diagonals, and between them.
  struct Added {
    double first = 0, second = 0, between = 0;
  };
  /// Knots of one clock one after the other.
  struct Chain {
    std::size_t first = 0, end = 0;
    bool after_interface = false, before_interface = false;  ///< two come right before it, or after
    bool is_done = false;
    Added before, after;  ///< to the two joints before it, and after it
    /// Between the first of these after it and both before it, then the second of these.
    double first_first = 0, first_second = 0, second_first = 0, second_second = 0;
  };

  void keep(std::size_t begin, std::span<const std::uint8_t> touched);
  void close_chain(std::size_t end, bool before_interface);
  [[nodiscard]] bool eliminate(Chain& chain);

  std::size_t knots_ = 0;
  Diagonals diagonals_;                   ///< with two unknowns more, of 0
  std::vector<std::uint32_t> interface_;  ///< unknowns, ascending
  std::vector<std::uint8_t>
      neighbours_before_;              ///< per joint: how many come right before it, at most 2
  std::vector<std::uint32_t> number_;  ///< per unknown: among the joints, if it is one
  std::vector<Chain> chains_, known_;  ///< those of the last keep(), and of the one before
  std::size_t next_known_ = 0;
  /// Per unknown of a chain: its entries in L, which has 1 on its diagonal, with the last two
  /// joints before its chain and with the next two knots, and 1 / pivot.
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

}  // namespace entrain::causal
