// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <entrain/report.hpp>

#include "base/cancel.hpp"
#include "trace/pair_mu.hpp"
#include "verify/clusters.hpp"
#include "verify/cycles.hpp"
#include "verify/pair_counts.hpp"
#include "verify/relation.hpp"
#include "verify/worst.hpp"

namespace entrain::verify {

struct EdgeCounts {
  std::array<PairCounts, k_edge_kinds> edges{};  ///< one per EdgeKind
  PairCounts inside_clocks;                      ///< all kinds in force
  std::uint64_t dropped = 0;                     ///< edges inside dropped components
};
struct EdgeSums : EdgeCounts {
  WorstEdges worst;
};

/// Observer of the edges of one member while the checker tests them. It gets every edge once; of a
/// collective only the deciding ones: each end with the latest begin that it must not precede. One
/// thread per member calls it.
class EdgeObserver {
 public:
  virtual ~EdgeObserver() = default;

  /// Discards everything: the walk starts again.
  virtual void restart() = 0;
  /// Takes all pairs of a channel from location `from` to another location `to`. Relation::pair()
  /// returns their events.
  virtual void channel(const Relation& relation, const MatchedChannel& channel, LocationIndex from,
                       LocationIndex to) = 0;
  virtual void pair(const Pair& pair) = 0;
  /// `deciding`: positions in the sides of the instance, one pair per end that has a begin.
  virtual void instance(const Instance& instance, std::span<const WorstPair> deciding) = 0;
};

/// Tests every edge of one member. Linear, but for instances with violations: O(n log n) in those.
class EdgeWalk {
 public:
  /// The limits that an edge must keep, and which of them count.
  struct Rules {
    MuTicks mu{};
    const trace::PairMu* pair_mu = nullptr;   ///< see TimesToCheck
    bool init_finalize = false;               ///< edges of that kind are in force
    std::span<const std::uint32_t> clock_of;  ///< clock of each location, or empty
    EdgeObserver* observer = nullptr;         ///< observer of the edges in force, or null
  };

  /// `backward`: collects the intervals of backward edges (Clusters); may be null. All must outlive
  /// the walk.
  EdgeWalk(const Relation& relation, const Cycles& cycles, const Rules& rules,
           IntervalUnion* backward)
      : relation_(relation), cycles_(cycles), rules_(rules), backward_(backward) {}

  /// Call it once. If cancelled, returns early with part of the sums.
  EdgeSums run(const Cancel& cancel);

 private:
  [[nodiscard]] bool in_force(EdgeKind kind) const {
    return kind != EdgeKind::init_finalize || rules_.init_finalize;
  }
  [[nodiscard]] bool one_clock(LocationIndex a, LocationIndex b) const {
    return !rules_.clock_of.empty() && rules_.clock_of[a] == rules_.clock_of[b];
  }
  /// mu of an edge that is no pair of a collective.
  [[nodiscard]] std::int64_t mu(EdgeKind kind, LocationIndex from, LocationIndex to) const {
    const LatencyClass latency_class = relation_.places().latency_class(from, to);
    const std::int64_t least = rules_.mu[static_cast<std::size_t>(latency_class)];
    if (rules_.pair_mu == nullptr || kind != EdgeKind::p2p ||
        latency_class == LatencyClass::same_process)
      return least;
    return rules_.pair_mu->of(relation_.places().machine_of(from),
                              relation_.places().machine_of(to), least);
  }
  PairCounts& counts(EdgeKind kind) { return sums_.edges[static_cast<std::size_t>(kind)]; }

  void add(const MatchedChannel& channel, const Cancel& cancel);
  void add_simple(const MatchedChannel& channel, std::int64_t mu, const Cancel& cancel);
  void add(const Pair& pair);
  void add(Instance& instance);
  void add_inside_clocks(const Instance& instance);
  void treat_components(Instance& instance, PairCounts& sum);

  const Relation& relation_;
  const Cycles& cycles_;
  const Rules& rules_;
  IntervalUnion* backward_;
  EdgeSums sums_;
  std::vector<Moment> sends_, receives_;  ///< some moments of the current instance
  std::vector<WorstPair> deciding_;       ///< deciding pairs of the current instance
};

}  // namespace entrain::verify
