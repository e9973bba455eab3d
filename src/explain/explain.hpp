// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/exact.hpp"
#include "difference/solve.hpp"
#include "explain/active_set.hpp"

/// Explains infeasible constraints of a run by minimum description length.
namespace entrain::explain {

/// Prices of relaxations, bits: minus the binary logarithm of how often one is true. Chosen, not
/// measured; tests: explain_test.cpp.
struct Prices {
  /// A clock was set: 20 bits for one gap between stamps in a million, 40 for the size of the step.
  /// So a step is preferred to three wrong pairs.
  static constexpr double step = 60;
  static constexpr double pair = 20;  ///< two records do not belong together: one pair in a million
  /// Causes and effects of all edges are exchanged: costs more than one wrong pair, but less than
  /// two, and less than rates beyond the limit. Tried only while the rest costs at most
  /// `left_of_exchanged`, eight steps.
  static constexpr double exchanged = 30, left_of_exchanged = 480;
  /// Weak evidence is wrong, in one of 64 cases: ends that should coincide do not (an instance with
  /// a delay below 0), a link implies no order, or a pair was guessed where records are missing.
  static constexpr double weak = 6;
  /// Rates exceed the limit, but those of any two clocks differ by at most `fastest_ppb`. With
  /// Trust::are_apart: one clock's rate is at most `fastest_ppb`, or twice that at twice the price.
  static constexpr double rate = 40;
  /// Two rates differ by more, but none exceeds `fastest_ppb`: more than one step, less than two.
  static constexpr double rates_of_two = 100;
  /// With Trust::are_apart: the rates of all clocks are at most `fastest_ppb`, or that of one clock
  /// is at most `any_ppb`. More than three steps, so that three steps are not taken for a rate.
  static constexpr double rates_of_all = 200;
  /// Rates exceed `fastest_ppb`, but not `any_ppb`. That would explain almost anything, so it costs
  /// as much as ten steps; for timers (Trust::are_timers), as three.
  static constexpr double any_rate = 600, any_rate_of_timers = 200;
  /// An estimate without an explanation meets all edges: its clocks may have any frequency.
  static constexpr double any_frequency = 1200;
  static constexpr std::int64_t fastest_ppb = 1'000'000;  ///< rates of undisciplined clocks
  static constexpr std::int64_t usual_ppb = 100'000;      ///< rates of wall clocks, as a rule
  static constexpr std::int64_t any_ppb = k_billion / 10;
};

/// A step: a clock was set between two neighbouring stamps. Its rate there is not limited. Events
/// stay in the order of their stamps, as a clock map is increasing.
struct Step {
  std::uint32_t clock = 0;
  std::int64_t before = 0, after = 0;  ///< the stamps, ticks
  friend auto operator<=>(const Step&, const Step&) = default;
};

/// How much a constraint is trusted.
enum class Evidence : std::uint8_t {
  usual,    ///< dropped at Prices::pair
  weak,     ///< dropped at Prices::weak
  certain,  ///< no explanation drops it
};

/// Price of an edge or an instance that is dropped, bits.
constexpr double price_of(Evidence evidence) {
  return evidence == Evidence::weak ? Prices::weak : Prices::pair;
}

/// Trust in the constraints.
struct Trust {
  std::span<const Evidence> edges{};      ///< one per edge; empty: all are usual
  std::span<const Evidence> instances{};  ///< the same
  bool are_timers = false;  ///< clocks are timers of machines: high rates are likelier
  bool are_apart = false;   ///< single clocks may exceed the limit on rates, each at its price
  /// Weak edges are guessed pairs: by themselves they show no step.
  bool is_weak_guessed = false;
  bool may_be_exchanged = false;  ///< only the edges tell causes from effects
  /// The user gave the limit on rates. Raising it, up to Prices::fastest_ppb, then comes before all
  /// other explanations.
  bool is_limit_given = false;
};

/// Relaxations that make constraints feasible. All empty: the constraints are feasible.
///
/// To add a kind of relaxation (a coarse clock, one name for several clocks, invalid times), give
/// the cycles that it breaks (Explainer::find_candidates), its price, and its change of the system
/// (Explainer::relaxed).
struct Explanation {
  std::vector<Step> steps;              ///< increasing
  std::vector<std::uint32_t> evidence;  ///< number of cycles that each step breaks
  /// Dropped edges, and edges that could be dropped instead at the same price; increasing.
  std::vector<std::uint32_t> edges;
  std::vector<std::uint32_t> instances;  ///< the same
  std::vector<std::uint32_t> fast;       ///< clocks that exceed the limit; others do not
  std::optional<std::int64_t> rate_ppb;  ///< the limit on rates of these, or of all, raised to the
                                         ///< least feasible, or a little more
  bool is_exchanged = false;             ///< causes and effects of all edges are exchanged
  /// Edges, then instances, of a cycle that contradicts the limits as they are; increasing.
  std::vector<std::uint32_t> certificate;
  double bits = 0;  ///< sum of the prices of what has to be relaxed
};

/// Finds the cheapest relaxations that break all negative cycles: an implicit hitting set (R. Karp,
/// 2010). Collects disjoint negative cycles: no two share a constraint. Breaks them at the least
/// price by branch and bound, exact if they are few. If the relaxed system is infeasible, adds its
/// negative cycles and repeats. Where steps in several gaps between stamps break the same cycles,
/// the step is in the longest gap; Explained::place_steps() moves it.
///
/// With Trust::may_be_exchanged a second search exchanges causes and effects of the edges. The
/// search with the lower price continues: that price is a lower bound on its final one.
///
/// Clocks must have limits on momentary rates only, the same for all; there must be no sessions.
/// Deterministic. Empty if the search exceeds `effort` or 8,192 cycles, or if some cycle has no
/// relaxation.
///
/// Example: messages both ways tie clock 1 to clock 0 within 10 ticks. From stamp 1,000 on, all of
/// them show clock 1 another 500 ticks ahead: the cheapest explanation is one step at 1,000.
///
/// `estimate`: start of the searches; empty: unknown. `active`: first size of the active set. Both
/// affect the duration of the search, and which of several cheapest explanations it finds.
std::optional<Explanation> explain(const difference::Constraints& constraints, const Trust& trust,
                                   difference::Effort& effort, const Estimate& estimate = {},
                                   std::size_t active = ActiveSet::k_first);

}  // namespace entrain::explain
