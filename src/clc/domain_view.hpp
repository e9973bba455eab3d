// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <entrain/clock_map.hpp>

#include "match/graph.hpp"
#include "trace/clock_domains.hpp"
#include "trace/partition.hpp"
#include "trace/share.hpp"
#include "trace/trace.hpp"

namespace entrain::clc {

/// A trace whose clock domains are its locations. amortize() takes it, so that a jump moves all
/// locations of a domain together.
struct DomainView {
  trace::Trace trace;          ///< path, definitions and extents only; no events
  trace::Partition partition;  ///< one part for each domain
  match::Graph graph;
  std::vector<ClockMap> presync;  ///< one map for each domain
};

/// Makes one stream of the locations of every domain: their nodes in order of stamp, equal stamps
/// one node. Edges inside a domain are gone, and so is every pair of an exchange whose participants
/// share a domain.
///
/// All locations of a domain have one presync map and one owner. `split_flushes` as in Options:
/// flushes of a domain of several locations that have communication inside are left out of the
/// view; clocks::straight_in_flushes() takes care of them. Exchanges in which a participant of a
/// domain begins when another one has ended (clocks that are not one, a coarse timer, prefix sums
/// over scattered ranks) are taken apart, at the cost of as many participants again per such
/// domain. Collective.
DomainView merge_domains(const trace::Share& share, match::Graph graph,
                         std::vector<ClockMap> presync, const trace::ClockDomains& domains,
                         bool split_flushes);

/// The map with knots at the ends of all flushes of `extent`, at the values that it has there;
/// clocks::straight_in_flushes() needs these knots. The values elsewhere may change by a tick of
/// rounding.
ClockMap with_flush_knots(const ClockMap& map, const trace::LocationSkeleton& extent);

}  // namespace entrain::clc
