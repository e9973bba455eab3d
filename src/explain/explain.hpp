// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/exact.hpp"
#include "difference/solve.hpp"

/// Why no clocks meet the constraints of a run: the explanation that costs least to tell.
namespace entrain::explain {

/// What the parts of an explanation cost to tell, bits (minimum description length: the logarithm
/// of how seldom they are true). Chosen, not measured; tests: explain_test.cpp.
struct Prices {
  /// A clock was set: one gap between two stamps in a million, and 40 bits for by how much. So a
  /// step explains three wrong pairs or more.
  static constexpr double step = 60;
  static constexpr double pair = 20;  ///< two records do not belong together: one pair in a million
  /// Causes and effects of all edges are exchanged: one wrong pair does not turn a table around,
  /// but two may, and clocks beyond the limit on rates do.
  static constexpr double exchanged = 30;
  /// Weak evidence is wrong, once in 64 cases: ends that should coincide do not (an instance with a
  /// delay below 0), a link means no order, a pair was guessed where records are missing.
  static constexpr double weak = 6;
  /// All guessed pairs of two clocks are wrong, as where both lost as much at different times and
  /// what lies between is shifted: `weak`, and for each pair that it meets the others by chance,
  /// as every second wrong one does.
  static constexpr double by_chance = 1;
  /// Clocks run faster than the limit says, but no faster than `fastest_ppb`.
  static constexpr double rate = 40;
  /// They tick at another frequency, up to a tenth off, which explains whatever clocks show: ten
  /// steps of clocks that can be set cost as much, three of timers (Trust::is_ordered).
  static constexpr double any_rate = 600, any_rate_of_timers = 200;
  static constexpr std::int64_t fastest_ppb = 1'000'000;  ///< clocks that nobody disciplines
  static constexpr std::int64_t any_ppb = k_billion / 10;
};

/// A clock was set between two neighbouring stamps: its rate there is not limited.
struct Step {
  std::uint32_t clock = 0;
  std::int64_t before = 0, after = 0;  ///< the stamps
  friend auto operator<=>(const Step&, const Step&) = default;
};

/// How far a constraint may be doubted.
enum class Evidence : std::uint8_t {
  usual,    ///< two records hardly ever do not belong together: Prices::pair
  weak,     ///< Prices::weak
  certain,  ///< no explanation drops it
};

/// What is known of constraints beside their lengths.
struct Trust {
  std::span<const Evidence> edges{};      ///< one per edge; empty: all are usual
  std::span<const Evidence> instances{};  ///< the same
  /// Events of a clock happened in the order of their stamps even where it was set: no step turns
  /// them around.
  bool is_ordered = false;
  /// Weak edges are guessed pairs: by themselves they show no step, and those of two clocks may be
  /// wrong together.
  bool is_weak_guessed = false;
  bool may_be_exchanged = false;  ///< nothing but the edges says what are causes and what effects
  /// The user gave the limit on rates: that it is too small, but below Prices::fastest_ppb, is told
  /// before anything else is supposed.
  bool is_limit_given = false;
};

/// Relaxations of constraints that make them feasible. All empty: they are feasible as they are.
///
/// Other kinds (a clock that ticks coarsely, one name for several clocks, records that are no time
/// of the run) are to be relaxations of their own: what of a cycle they break
/// (Explainer::find_candidates), their price, and how they change the system (Explainer::relaxed).
struct Explanation {
  std::vector<Step> steps;               ///< increasing
  std::vector<std::uint32_t> evidence;   ///< cycles that each step breaks
  std::vector<std::uint32_t> edges;      ///< pairs that are dropped, increasing
  std::vector<std::uint32_t> instances;  ///< instances that are dropped, increasing
  std::optional<std::int64_t> rate_ppb;  ///< limit on all rates that has to be raised to this
  bool is_exchanged = false;  ///< each effect is a cause of its cause: no edge is left as it is
  /// Edges, then instances, of a cycle that contradicts the limits as they are; increasing.
  std::vector<std::uint32_t> certificate;
  double bits = 0;  ///< price
};

/// Price of `wrong` of all guessed pairs of two clocks, bits.
double price_of_guesses(std::size_t wrong, std::size_t all);

/// Finds the cheapest relaxations that remove all negative cycles: an implicit hitting set (R.
/// Karp, 2010). Cycles that have no constraint in common are collected; the cheapest set of
/// relaxations that breaks all of them is found, exactly where they are few; what it leaves
/// infeasible shows further cycles, until nothing is left. Where several gaps between stamps
/// explain the cycles equally well, the clock was set in the longest one.
///
/// That causes and effects are exchanged (Trust::may_be_exchanged) is searched beside: of both
/// searches the one goes on that has the lower price so far, which is a lower bound of its last
/// one.
///
/// Clocks must have limits on rates only, and no sessions. Deterministic. Empty if the search takes
/// more than `effort` or 8,192 cycles, or if nothing that may be relaxed breaks a cycle.
///
/// Example: messages both ways tie clock 1 to 0 within 10 ticks. From 1,000 on all of them say that
/// it is 500 ahead of what it was: the cheapest explanation is one step at 1,000.
std::optional<Explanation> explain(const difference::Constraints& constraints, const Trust& trust,
                                   difference::Effort& effort);

}  // namespace entrain::explain
