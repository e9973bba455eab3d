// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/big_vector.hpp"
#include "bounds/error_bounds.hpp"
#include "constraints/base_line.hpp"
#include "constraints/context.hpp"
#include "constraints/edge_constraints.hpp"
#include "difference/system.hpp"

namespace entrain::bounds {

/// A constraint as an edge whose stamps count from `begin`.
[[nodiscard]] inline difference::Edge edge_of(const constraints::ClockConstraint& constraint,
                                              std::int64_t begin) {
  return {.cause = {constraint.from, constraint.from_time - begin},
          .effect = {constraint.to, constraint.to_time - begin},
          .delay = constraint.to_time - constraint.from_time - constraint.slack};
}

/// Edges of a trace as difference constraints, taken when clocks violate them: a trace has many,
/// and few of them matter. Where a solution of the taken ones violates no other, it is one of all
/// (constraint generation).
///
/// Stamps of the constraints are times along base lines, ticks since `begin`. Each pair of clocks
/// gives at most one edge per window and call. The same at every process.
class ViolatedEdges {
 public:
  struct Setting {
    /// Clocks, first and last time of all events, least latencies, and what stamps may be off by.
    constraints::ConstraintOptions edges;
    std::span<const constraints::BaseLine> lines;  ///< one per clock
    /// Largest distance of the times that are asked about from base lines, ticks.
    std::int64_t most_error = 0;
    RateLimits limits{};  ///< limits on rates: edges count that bind errors within them
  };
  /// `context` and spans must outlive this. Collective.
  ViolatedEdges(const constraints::Context& context, const Setting& setting);
  ViolatedEdges(const ViolatedEdges&) = delete;
  ViolatedEdges& operator=(const ViolatedEdges&) = delete;

  /// Parts of a tick in which times are given to add(): 2^bits(), so that rates round to little.
  [[nodiscard]] unsigned bits() const { return setting_.edges.bits; }
  [[nodiscard]] std::int64_t begin() const { return setting_.edges.begin; }
  [[nodiscard]] const RateLimits& limits() const { return setting_.limits; }

  /// Adds edges that are violated by the times which clock_of(l) makes of the stamps of location l:
  /// parts since begin(), within `most_error` of the base line. It is called with increasing
  /// stamps. With them come edges that are nearly violated: they would be next. False if nothing
  /// was added: all that is violated is known, as it is between clocks that nothing ties.
  /// `rate_ppb`: by which errors may change; edges that are so near to a tighter one of their pair
  /// that they say little more are left for later. Collective.
  template <class ClockOf>
  bool add(ClockOf clock_of, std::int64_t rate_ppb) {
    constraints::evaluate_nodes(context_, corrected_, clock_of);
    return collect(near_, rate_ppb);
  }
  /// Other errors are asked about from now on, which may violate much more.
  void begin_anew();
  /// Adds the tightest edges by such times. Collective.
  template <class ClockOf>
  void add_tightest(ClockOf clock_of) {
    constraints::evaluate_nodes(context_, corrected_, clock_of);
    collect(std::numeric_limits<std::int64_t>::max(), 0);
  }

  /// All edges that were added, in order.
  [[nodiscard]] std::span<const difference::Edge> edges() const { return edges_; }

 private:
  bool collect(std::int64_t most_slack, std::int64_t rate_ppb);

  [[nodiscard]] BigVector<std::int64_t> on_lines(const constraints::Context& context) const;

  Setting setting_;
  match::Graph graph_;  ///< the edges that count
  constraints::Context context_;
  std::int64_t near_ = 1;              ///< slack below which an edge is nearly violated, parts
  BigVector<std::int64_t> times_;      ///< times of the nodes along base lines, ghosts too
  BigVector<std::int64_t> corrected_;  ///< times that are asked about, parts
  std::vector<difference::Edge> edges_;
};

/// The graph of a context without edges that others of the same two locations imply: errors that
/// change within `limits` meet what is left exactly if they meet all.
///
/// Between two edges of a pair of locations, the error of either clock changes by a bounded amount.
/// An edge with that much more slack than another one binds nothing. Of many messages in a short
/// time, few are left: those whose slack lies on the lower envelope of cones. `times`: of all
/// nodes along base lines, ticks. Calls of collectives stay. Nodes without edges go in a team of
/// one. Independent of the numbers of threads and processes. O(edges).
[[nodiscard]] match::Graph binding_edges(const constraints::Context& context,
                                         std::span<const std::uint32_t> clock_of,
                                         std::span<const std::int64_t> times,
                                         const RateLimits& limits);

}  // namespace entrain::bounds
