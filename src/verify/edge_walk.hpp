// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include <entrain/report.hpp>

#include "base/cancel.hpp"
#include "verify/check.hpp"
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

/// Tests every edge of one member by the limits of `times`; edges of EdgeKind::init_finalize are in
/// force only if `init_finalize`. `backward`: collects the intervals of backward edges (Clusters);
/// may be null. If cancelled, returns early with part of the sums. Linear, but for instances with
/// violations: O(n log n) in those.
EdgeSums walk_edges(const Relation& relation, const Cycles& cycles, const TimesToCheck& times,
                    bool init_finalize, IntervalUnion* backward, const Cancel& cancel);

}  // namespace entrain::verify
