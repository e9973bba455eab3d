// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include <entrain/clock_map.hpp>

#include "base/team.hpp"
#include "match/graph.hpp"
#include "trace/clock_domains.hpp"
#include "trace/partition.hpp"
#include "trace/trace.hpp"

namespace entrain::clc {

/// A trace whose clock domains are its locations: what amortize() takes, so that a jump moves all
/// locations of a domain together.
struct DomainView {
  trace::Trace trace;          ///< path, definitions and extents only; no events
  trace::Partition partition;  ///< per domain
  match::Graph graph;
  std::vector<ClockMap> presync;  ///< per domain
};

/// Makes one stream of the locations of every domain: their nodes in order of stamp, equal stamps
/// one node. Edges inside a domain are gone, and so is every pair of an exchange whose members
/// share a domain.
///
/// All locations of a domain have one presync map and one owner. `split_flushes` as in Options:
/// flushes of a domain of several locations that have communication inside are left out of the
/// view, for straighten_flushes() to see to. Exchanges in which a member of a domain begins when
/// another one has ended (clocks that are not one, a coarse timer, prefix sums over scattered
/// ranks) are taken apart, at the cost of as many members again per such domain. Collective.
DomainView merge_domains(Team& team, const trace::Partition& partition, match::Graph graph,
                         const trace::Trace& trace, std::vector<ClockMap> presync,
                         const trace::ClockDomains& domains, bool split_flushes);

/// The map with knots at the ends of all flushes of `extent`, at the values that it has there: of
/// these straighten_flushes() makes use. The values elsewhere may change by a tick of rounding.
ClockMap with_flush_knots(const ClockMap& map, const trace::LocationSkeleton& extent);

/// The map of a domain for one of its locations, for a reader which sees a flush and its stop time
/// at once: without the knots strictly inside the location's flushes.
ClockMap straighten_flushes(const ClockMap& map, const trace::LocationSkeleton& location);

}  // namespace entrain::clc
