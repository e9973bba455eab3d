// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "base/ids.hpp"
#include "verify/edges.hpp"
#include "verify/pair_counts.hpp"

namespace entrain::verify {

class Relation;
struct MatchedChannel;

/// Sees the edges of one member while the checker tests them, to count or to keep some of them. It
/// sees every edge once, but of a collective the deciding ones only: each end with the latest begin
/// that it must not precede. One member's thread calls it.
class EdgeObserver {
 public:
  virtual ~EdgeObserver() = default;

  /// Forgets everything: the walk begins anew.
  virtual void restart() = 0;
  /// All pairs of a channel whose sends are on location `from` and whose receives are on `to`,
  /// which are different ones. Relation::pair() has the events.
  virtual void channel(const Relation& relation, const MatchedChannel& channel, LocationIndex from,
                       LocationIndex to) = 0;
  virtual void pair(const Pair& pair) = 0;
  /// `deciding`: positions in the sides of the instance, one pair per end that has a begin.
  virtual void instance(const Instance& instance, std::span<const WorstPair> deciding) = 0;
};

}  // namespace entrain::verify
