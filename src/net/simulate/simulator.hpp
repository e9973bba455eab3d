// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "net/model/link_model.hpp"
#include "net/model/topology.hpp"
#include "net/plan/schedule.hpp"

namespace entrain::net {

struct SimulationOptions {
  LinkModel model = LinkModel::at_switch;
  std::int64_t guard_flits =
      0;  ///< idle flits at the end of a slot; less than Parameters::slot_flits
  /// The slowest clock is this much slower than the fastest; the others lie between. Routers keep
  /// the pace of the fastest.
  std::int64_t drift_ppb = 0;
  /// The clocks begin up to this far apart: the first that late, another at once, the others
  /// between.
  Femtoseconds phase{0};
  std::int64_t synchronisations = 1;  ///< how often the schedule runs, at least 1
  /// Slots from the begin of a schedule to the next, at least those of the schedule.
  std::int64_t interval_slots = 0;
  /// Share of the slots between the schedules in which an interface sends, to another one of its
  /// switch, so that no two packets want one link; 0 to 1.
  double load = 0;
  std::uint64_t seed = 1;  ///< of rates, phases and traffic
  bool skip = true;        ///< pass over the flits of packets that nothing can block any more
  bool every_slot =
      false;  ///< keep the clocks at every slot of the schedules, not only at their ends
};

/// The clocks at a boundary between slots.
struct Boundary {
  std::int64_t synchronisation = 0;
  std::int64_t slot = 0;                 ///< of the schedule, 0 to Schedule::slots
  std::vector<std::int64_t> reached_fs;  ///< when each interface got there

  [[nodiscard]] Femtoseconds earliest() const;
  [[nodiscard]] Femtoseconds latest() const;
  [[nodiscard]] Femtoseconds skew() const { return latest() - earliest(); }
};

/// A buffer that took more flits than it has room for. A real network loses them; the simulation
/// keeps them, so that it can go on.
struct Overrun {
  ChannelIndex channel = 0;
  std::int64_t flits = 0;    ///< that found the buffer full
  std::int64_t largest = 0;  ///< occupancy
};

/// A packet that took a link before one of an earlier slot: the skew was so large that the order of
/// the slots was lost, and the slow are held up by the fast.
struct Inversion {
  ChannelIndex channel = 0;
  std::int64_t first_slot = 0;   ///< of the packet that was there first, since the begin
  std::int64_t second_slot = 0;  ///< smaller
  InterfaceIndex second_source = 0;
};

struct SimulationResult {
  std::vector<Boundary> boundaries;      ///< in their order
  std::vector<std::int64_t> rate_ppb;    ///< by interface: slower than the fastest by
  std::vector<std::int64_t> blocked_fs;  ///< by interface: how long its clock stood still
  std::vector<Overrun> overruns;         ///< by channel
  std::int64_t inversions = 0;
  std::optional<Inversion> first_inversion;
  std::int64_t largest_occupancy = 0;  ///< of any buffer, flits
  std::int64_t injected_flits = 0;
  std::int64_t delivered_flits = 0;  ///< those skipped included
  std::int64_t packets = 0;
  std::int64_t events = 0;         ///< processed
  std::int64_t skipped_flits = 0;  ///< of injected_flits
  Femtoseconds simulated{0};       ///< until the last interface is through

  /// 0: the simulation keeps what overruns.
  [[nodiscard]] std::int64_t undelivered_flits() const { return injected_flits - delivered_flits; }
  /// Boundaries at the end (or, `slot` 0, the begin) of the schedules.
  [[nodiscard]] std::vector<const Boundary*> at_slot(std::int64_t slot) const;
  /// Largest skew after a schedule, from the schedule `first` on; 0 if there is none.
  [[nodiscard]] Femtoseconds largest_skew(std::int64_t slot, std::int64_t first = 0) const;
};

/// Runs the schedule, flit by flit. The same arguments give the same result. The phase `simulate`
/// of `progress` counts interfaces through their slots.
///
/// Interfaces inject a flit per cp of their own clock, which stands still while a flit that is due
/// must wait for a GO. A flit takes ld on a link. An input buffer sends STOP when its occupancy
/// reaches ks, GO when it falls to kg; both take effect ld + 2 fc later. A router passes a header
/// on rd after it is first in its buffer and the output is free, first come, first served, and the
/// following flits one per sd or cp (LinkModel). Interfaces take what comes. The output is free
/// when the tail has left.
///
/// Errors: ErrorKind::usage for options out of range, ErrorKind::interrupted.
Result<SimulationResult> simulate(const Topology& topology, const Schedule& schedule,
                                  const Parameters& parameters, const SimulationOptions& options,
                                  Progress* progress);

/// A buffer that may be too small for its link.
struct OverrunRisk {
  ChannelIndex channel = 0;
  std::int64_t room = 0;    ///< bl - ks
  std::int64_t needed = 0;  ///< flits that come after STOP was sent
};

/// Links whose buffers may overrun: bl - ks < ceil((2 ld + 2 fc) / flit interval) + 1, where flits
/// come at the interval of an interface (cp) or of a router (LinkModel).
std::vector<OverrunRisk> overrun_risks(const Topology& topology, const Parameters& parameters,
                                       LinkModel model);

}  // namespace entrain::net
