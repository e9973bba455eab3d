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
  /// How much slower the slowest clock is than the fastest. The other rates lie between them;
  /// routers keep the pace of the fastest.
  std::int64_t drift_ppb = 0;
  /// How far apart the clocks begin: one begins this late, another one at once, the others between.
  Femtoseconds phase{0};
  std::int64_t synchronisations = 1;  ///< how often the schedule runs, at least 1
  /// Slots from the begin of a schedule to the begin of the next; at least Schedule::slots.
  std::int64_t interval_slots = 0;
  /// Share of the slots between the schedules in which an interface sends to another one of its
  /// switch, 0 to 1. No two of these packets want one link.
  double load = 0;
  std::uint64_t seed = 1;  ///< seed of the random rates, phases and traffic
  bool skip = true;        ///< skip the flits of packets that nothing can block any more
  bool every_slot =
      false;  ///< keep the clocks at every slot of the schedules, not only at their ends
};

/// The clocks of all interfaces at a boundary between slots.
struct Boundary {
  std::int64_t synchronisation = 0;
  std::int64_t slot = 0;                 ///< slot of the schedule; 0 to Schedule::slots
  std::vector<std::int64_t> reached_fs;  ///< time at which each interface's clock reached the
                                         ///< boundary

  [[nodiscard]] Femtoseconds earliest() const;
  [[nodiscard]] Femtoseconds latest() const;
  [[nodiscard]] Femtoseconds skew() const { return latest() - earliest(); }
};

/// A buffer that took more flits than it has room for. A real network would lose them; the
/// simulation keeps them so that it can go on.
struct Overrun {
  ChannelIndex channel = 0;
  std::int64_t flits = 0;    ///< number of flits that found the buffer full
  std::int64_t largest = 0;  ///< largest occupancy, flits
};

/// A packet that took a link before a packet of an earlier slot. The skew was so large that the
/// order of the slots was lost, and fast interfaces hold up slow ones.
struct Inversion {
  ChannelIndex channel = 0;
  /// Slot of the packet that came first, counted from the start of the run.
  std::int64_t first_slot = 0;
  std::int64_t second_slot = 0;  ///< slot of the packet that came second; smaller
};

struct SimulationResult {
  std::vector<Boundary> boundaries;      ///< boundaries in the order of time
  std::vector<std::int64_t> rate_ppb;    ///< rate of each interface: how much slower than the
                                         ///< fastest
  std::vector<std::int64_t> blocked_fs;  ///< time that each interface's clock stood still
  std::vector<Overrun> overruns;         ///< overruns, sorted by channel
  std::int64_t inversions = 0;
  std::optional<Inversion> first_inversion;
  std::int64_t largest_occupancy = 0;  ///< largest occupancy of any buffer, flits
  std::int64_t injected_flits = 0;
  std::int64_t delivered_flits = 0;  ///< including skipped ones
  std::int64_t packets = 0;
  std::int64_t events = 0;         ///< processed
  std::int64_t skipped_flits = 0;  ///< part of injected_flits that was skipped
  Femtoseconds simulated{0};       ///< time until the last interface has ended

  /// Always 0, as the simulation keeps the flits that overrun a buffer.
  [[nodiscard]] std::int64_t undelivered_flits() const { return injected_flits - delivered_flits; }
  /// The boundaries at `slot` of each schedule: 0 is its begin, Schedule::slots its end.
  [[nodiscard]] std::vector<const Boundary*> at_slot(std::int64_t slot) const;
  /// Largest skew at `slot` of a schedule, from the schedule `first` on; 0 if there is none.
  [[nodiscard]] Femtoseconds largest_skew(std::int64_t slot, std::int64_t first = 0) const;
};

/// Runs the schedule flit by flit. The same arguments give the same result. The phase `simulate` of
/// `progress` counts the slots of all interfaces.
///
/// An interface injects one flit per cp of its own clock. The clock stands still while a flit that
/// is due waits for a GO. A flit takes ld on a link. An input buffer sends STOP when its occupancy
/// reaches ks, and GO when it falls to kg; both take effect ld + 2 fc later. A router forwards a
/// header rd after it is first in its buffer and the output is free: first come, first served. The
/// following flits leave one per sd or cp (LinkModel). The output is free when the tail has left.
/// Interfaces take every flit that arrives.
///
/// Errors: ErrorKind::usage for options out of range, ErrorKind::interrupted.
Result<SimulationResult> simulate(const Topology& topology, const Schedule& schedule,
                                  const Parameters& parameters, const SimulationOptions& options,
                                  Progress* progress);

/// A buffer that may be too small for its link.
struct OverrunRisk {
  ChannelIndex channel = 0;
  std::int64_t room = 0;    ///< bl - ks
  std::int64_t needed = 0;  ///< flits that arrive after STOP was sent
};

/// The links whose buffers may overrun: bl - ks < ceil((2 ld + 2 fc) / flit interval) + 1. The flit
/// interval is that of an interface (cp) or of a router (LinkModel).
std::vector<OverrunRisk> overrun_risks(const Topology& topology, const Parameters& parameters,
                                       LinkModel model);

}  // namespace entrain::net
