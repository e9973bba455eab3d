// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <entrain/error.hpp>

#include "base/cancel.hpp"
#include "trace/share.hpp"
#include "verify/clusters.hpp"
#include "verify/relation.hpp"

namespace entrain::verify {

/// Events that happen before themselves (docs/method.md, section 2: Cycles).
///
/// With a coarse timer, a send and a receive of a location may share a stamp and thus be one
/// instant; edges and local order can then close a cycle. Edges inside a component (a strongly
/// connected one of two instants or more) carry no latency; those inside a dropped component are a
/// matching error and demand nothing.
///
/// Example: locations 0 and 1 each receive a message from the other and then send one to it, and
/// all four events have the stamp 100. Each location is one instant, the two messages are edges
/// both ways between the two instants, and so both instants form component 0.
///
/// The same at every member. Components are numbered from 0.
class Cycles {
 public:
  /// Finds the cycles of edges and local order inside the clusters; one member searches each
  /// cluster. Instances of EdgeKind::init_finalize take part only if `init_finalize`. A
  /// component is dropped if it spans more than two timer granules of any location (an unknown
  /// granule is taken as one tick). Linear in the events, O(n log n) in those inside clusters.
  /// Collective. Errors, the same at every member: ErrorKind::interrupted; ErrorKind::input for
  /// 2^30 edges or more inside the clusters of one member.
  static Result<Cycles> find(const trace::Share& share, const Relation& relation,
                             const Clusters& clusters, bool init_finalize, const Cancel& cancel);

  /// Component of an event; k_none if it is in no cycle. O(log ranges).
  [[nodiscard]] std::uint32_t of(EventRef event) const;
  [[nodiscard]] bool any() const { return !dropped_.empty(); }
  /// True per dropped component.
  [[nodiscard]] const std::vector<bool>& dropped() const { return dropped_; }

 private:
  /// The instants of a location inside a component: consecutive, because of local order.
  struct Range {
    EventRef first;
    std::uint32_t last = 0;  ///< last instant
    std::uint32_t component = 0;
  };
  static std::vector<Range> ranges_of(std::vector<std::pair<std::uint32_t, EventRef>>&& members);

  std::vector<Range> ranges_;  ///< disjoint, sorted by location and event
  std::vector<bool> dropped_;
};

}  // namespace entrain::verify
