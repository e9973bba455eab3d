// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include <tl/expected.hpp>

#include "base/big_vector.hpp"
#include "difference/system.hpp"

namespace entrain::difference {

/// u per node. Above k_unbounded / 2 or below -k_unbounded / 2: no limit.
using Values = BigVector<Exact>;

[[nodiscard]] constexpr bool is_unbounded(Exact value) {
  return value > k_unbounded / 2 || value < -k_unbounded / 2;
}

/// A cycle of constraints that cannot hold together: the certificate of an infeasible system.
///
/// Its check is simple: around the cycle the differences of u add up to 0, but by the constraints
/// to at most `length`, which is below 0.
struct Certificate {
  using Kind = System::Kind;
  /// A constraint u(to) - u(from) <= length.
  struct Step {
    Kind kind = Kind::edge;
    std::uint32_t position = 0;  ///< place of the constraint in its span; rate, mean: the clock
    Node from = 0, to = 0;       ///< nodes of the System
    Exact length = 0;
  };
  std::vector<Step> steps;  ///< each one begins where the one before it ends
  Exact length = 0;         ///< sum of the lengths, below 0
  /// Ticks between the stamps of all steps of kind `rate`: if all clocks had a limit on rates that
  /// is higher by x, the cycle would be longer by x times this.
  std::int64_t rate_ticks = 0;
  /// The least x, ppb, by which it is no longer below 0; only if there are such ticks.
  [[nodiscard]] std::int64_t least_raise() const {
    return static_cast<std::int64_t>(ceil_div(-length, Exact{rate_ticks}));
  }
};

/// Why there is no solution.
struct Failure {
  /// Empty: the search was stopped, since it took more steps than Effort allows.
  std::optional<Certificate> certificate;
  std::vector<Certificate> more{};  ///< other cycles; no two of all share a node
};

template <class T>
using Solved = tl::expected<T, Failure>;

/// Steps that a search may take and has taken. A step is an arc that is tried.
struct Effort {
  std::uint64_t most = UINT64_MAX;
  std::uint64_t spent = 0;
  /// A search does not end with the first cycles, but goes on for a while without their nodes.
  bool more_cycles = false;
};

/// The greatest solution that is nowhere above `start` (of all solutions, those with u of the
/// reference other than 0 included). `start` has a value per node.
///
/// Sweeps in alternating direction through the nodes in order of time (Yen's order for the
/// algorithm of Bellman and Ford): a shortest path that changes its direction in time k times is
/// found after k + 1 sweeps. Where that takes long, the order becomes that of the forest of
/// predecessors. A negative cycle shows as a cycle of predecessors.
///
/// Deterministic. O(nodes + arcs) per sweep, in the worst case as many sweeps as nodes; memory: 8
/// bytes per node, 16 with an order of its own.
Solved<Values> greatest_below(const System& system, Values start, Effort& effort);

/// The least solution that is nowhere below `start`.
Solved<Values> least_above(const System& system, Values start, Effort& effort);

/// Per node the tightest limits on u that follow from the constraints, if u of the reference is 0.
/// Both meet every constraint. Unbounded: nothing ties the node to the reference in this direction.
struct Bounds {
  Values lower, upper;
};
Solved<Bounds> find_bounds(const System& system, Effort& effort);
/// The same, if cycles that no path leads to from the reference are not negative, or do not matter.
Solved<Bounds> bounds_from_reference(const System& system, Effort& effort);

/// A solution near an estimate: the middle between the least one above it and the greatest one
/// below it, after the estimate was moved into `bounds`. An estimate that is a solution stays as it
/// is. `estimate` has a value per node below System::stamped(), so has the result.
Solved<Values> project(const System& system, const Bounds& bounds, const Values& estimate,
                       Effort& effort);

/// Limits on rates of which the least one is searched, ppb.
struct LimitRange {
  std::int64_t least_ppb = 0;  ///< is not too large
  std::int64_t most_ppb = std::numeric_limits<std::int64_t>::max();
};

struct LeastRate {
  std::int64_t ppb = 0;
  Values solution;
};

/// Sets and returns the least limit on all rates under which the system is feasible.
/// Mean limits stay. `start`: values from which searches begin; empty: 0. The certificate of a
/// failure shows why no limit suffices, or none within the range.
Solved<LeastRate> set_least_rate(System& system, Effort& effort, LimitRange within = {},
                                 const Values& start = {});

}  // namespace entrain::difference
