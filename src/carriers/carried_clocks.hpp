// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>

#include "base/edge_list.hpp"
#include "explain/staying.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::carriers {

/// A time at which a clock that does not carry others was set.
struct CarriedStep {
  std::uint32_t clock = 0;
  std::uint64_t time = 0;
  std::int64_t size = 0;  ///< how far it was set ahead, ticks
};

/// Clocks each of which carries others: the host of a rank its devices, the threads of a process
/// its accelerators. What carries moves with all that it carries, so that edges between processes
/// need not be divided among the clocks of one.
struct CarriedClocks {
  Clocks clocks;                       ///< the carriers
  EdgeList list;                       ///< the edges between carriers; times are those of carriers
  std::vector<std::uint32_t> carrier;  ///< position of the carrier of each clock in `clocks`
  /// Per clock: its time -> that of its carrier. The identity unless edges between the two demand
  /// another one; of a carrier, unless leave_steps_to_carried() finds that it was not set.
  std::vector<ClockMap> inner;
  std::vector<std::uint32_t> apart;  ///< clocks whose map is no identity, increasing
  std::vector<std::uint32_t> still;  ///< carriers that keep their times, positions of all clocks
  std::vector<CarriedStep> steps;    ///< ordered by clock
  /// Edges between a clock and its carrier that are no evidence, positions, increasing: their
  /// limits lie far from those of all others, which only a wrong stamp explains.
  std::vector<std::uint32_t> wrong;
};

/// Per clock the first one of its process, which carries the others.
std::vector<std::uint32_t> first_of_processes(std::span<const std::uint32_t> process_of);

/// True if some process has several clocks.
bool has_carried(std::span<const std::uint32_t> process_of);

/// The clocks that are taken for one where nothing demands more: those of a process whose edges
/// with the first one are not violated.
trace::ClockDomains domains_in_processes(const Edges& edges,
                                         std::span<const std::uint32_t> process_of);

/// Takes carried clocks out of a problem: finds their maps from the edges between them and their
/// carriers, and moves all other edges to the carriers. `carrier_of`: per clock the one that
/// carries it, or itself. `align_group` is asked only for clocks whose edges with their carrier are
/// violated. Errors: those of `align_group`.
Result<CarriedClocks> carried_clocks(const Clocks& clocks, const Edges& edges,
                                     std::span<const std::uint32_t> carrier_of,
                                     const explain::AlignGroup& align_group);

/// Positions in `edges` of the edges of CarriedClocks::list.
std::vector<std::uint32_t> outer_edges(const CarriedClocks& carried, const Edges& edges);

/// Finds the carriers that keep their times, as what they carry may alone be wrong: one wrong clock
/// is likelier than two. All that such a carrier carries is apart, or was set alone
/// (leave_steps_to_carried()). It has no edges with others. With `maps`, those of the carriers, the
/// edges inside hold if it keeps its time, and it would move by no more than its work waits
/// (median). Carriers come before what they carry. Sets CarriedClocks::still.
void leave_maps_to_carried(CarriedClocks& carried, const Edges& edges,
                           std::span<const ClockMap> maps);

/// Maps of all clocks, of the maps of their carriers. Errors: those of ClockMap::from_knots().
Result<std::vector<ClockMap>> maps_of_all(const CarriedClocks& carried,
                                          std::span<const ClockMap> maps);

}  // namespace entrain::carriers
