// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/report.hpp>

#include "base/edge_list.hpp"
#include "explain/staying.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::carriers {

/// The clocks of processes, each of which carries the other clocks of its process: the host of a
/// rank and its devices. What carries moves with all that it carries, so that edges between
/// processes need not be divided among the clocks of one.
struct CarriedClocks {
  Clocks clocks;                       ///< the carriers
  EdgeList list;                       ///< the edges between carriers; times are those of carriers
  std::vector<std::uint32_t> carrier;  ///< position of each clock in `clocks`
  /// Per clock: its time -> that of its carrier. The identity unless edges between the two demand
  /// another one; of a carrier, unless leave_steps_to_carried() finds that it was not set.
  std::vector<ClockMap> inner;
  std::vector<std::string> apart;       ///< names of clocks whose map is no identity
  std::vector<ClockExplanation> steps;  ///< steps of clocks that do not carry others
};

/// A clock that was set, ahead by `size_ticks` at `time_ticks`, as an explanation has it.
ClockExplanation explained_step(const std::string& clock, std::uint64_t time_ticks,
                                std::int64_t size_ticks, std::uint64_t resolution_hz);

/// True if some process has several clocks.
bool has_carried(std::span<const std::uint32_t> process_of);

/// The clocks that are taken for one where nothing demands more: those of a process whose edges
/// with the first one are not violated.
trace::ClockDomains domains_in_processes(const Edges& edges,
                                         std::span<const std::uint32_t> process_of);

/// The first clock of each process carries the others. `align_group` is asked only for clocks whose
/// edges with their carrier are violated. Errors: those of `align_group`.
Result<CarriedClocks> carried_clocks(const Clocks& clocks, const Edges& edges,
                                     std::span<const std::uint32_t> process_of,
                                     const explain::AlignGroup& align_group);

/// Maps of all clocks, of the maps of their carriers. Errors: those of ClockMap::from_knots().
Result<std::vector<ClockMap>> maps_of_all(const CarriedClocks& carried,
                                          std::span<const ClockMap> maps);

}  // namespace entrain::carriers
