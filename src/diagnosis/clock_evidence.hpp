// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include <entrain/clock_map.hpp>

#include "constraints/context.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::diagnosis {

/// The clocks of a trace. What it refers to must outlive it.
struct ClocksOfTrace {
  constraints::Context context;               ///< its graph is asked for evidence only
  std::span<const ClockMap> measured, found;  ///< map per location: by sessions alone; estimated
  const trace::ClockDomains& shared;          ///< clocks that locations are taken to share
  bool are_edges_given = false;               ///< the source of the trace names its edges
};

/// Evidence of the edges on the clocks, by the clocks as measured. Index: location.
struct ClockEvidence {
  struct OfLocation {
    std::uint64_t edges = 0, violations = 0;
    std::int64_t worst_ticks = std::numeric_limits<std::int64_t>::max();  ///< largest: no edge
    LocationIndex worst_with = k_none;
    /// It contradicts no clock that is right: see clock_evidence().
    bool is_right = true;
    /// Of a clock of several locations of one process: edges with others concern this one, and
    /// nothing within the process contradicts that it alone is wrong. Example: the device of a
    /// rank; its calls of the host are not known to wait for it.
    bool may_err_alone = false;
  };
  std::vector<OfLocation> of;
  std::vector<std::uint32_t> group;  ///< equal for locations that edges tie, by way of others too
};

/// Collects the evidence. A single edge concerns both ends; an end
/// of a collective concerns the last begin that it waits for. Linear in edges, but for the order of
/// begins of a collective. Collective.
///
/// Those clocks are right that violate no edge among themselves if they stay as measured, and
/// beside which the others, as estimated but for a constant each, violate none either; taken in
/// order of how far the estimate moves them. Where an estimate moves some a little that nothing
/// speaks against, nobody can call them wrong. Example: rank 0 moves by 5 ms, the others by 0, 1
/// and 3 us; all violated edges are between rank 0 and others, and are met if only rank 0 moves, so
/// these are right. If those of rank 1 were met only beside a rank 2 moved by 7 ms, rank 2 would be
/// wrong.
ClockEvidence clock_evidence(const ClocksOfTrace& clocks);

}  // namespace entrain::diagnosis
