// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "base/ids.hpp"
#include "verify/edges.hpp"
#include "verify/pair_counts.hpp"

namespace entrain::verify {

class Relation;
struct MatchedChannel;

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

}  // namespace entrain::verify
