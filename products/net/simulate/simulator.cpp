// SPDX-License-Identifier: BSD-3-Clause
#include "net/simulate/simulator.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/exact.hpp"
#include "base/try.hpp"
#include "net/simulate/flit_engine.hpp"

namespace entrain::net {
namespace {

/// Longer runs would have times beyond 64 bits.
constexpr std::int64_t k_most_simulated_fs = 4'000'000'000'000'000'000;
constexpr std::int64_t k_most_synchronisations = 1'000'000;
/// All interfaces together: 1 GiB.
constexpr std::int64_t k_most_clock_readings = std::int64_t{1} << 27;

Result<void> check(const Topology& topology, const Schedule& schedule, const Parameters& parameters,
                   const SimulationOptions& options) {
  TRY(validate(parameters));
  if (schedule.slots < 1) return fail(ErrorKind::usage, "the schedule has no slots");
  if (options.synchronisations < 1 || options.synchronisations > k_most_synchronisations)
    return fail(ErrorKind::usage,
                fmt::format("the number of synchronisations {} is not between 1 and {}",
                            options.synchronisations, k_most_synchronisations));
  if (options.interval_slots < schedule.slots)
    return fail(ErrorKind::usage,
                fmt::format("the interval of {} slots is shorter than the schedule, which has {}",
                            options.interval_slots, schedule.slots));
  if (options.guard_flits < 0 || parameters.slot_flits - options.guard_flits <= parameters.bl)
    return fail(
        ErrorKind::usage,
        fmt::format("with {} idle flits of {} in a slot, a packet is not longer than a buffer "
                    "({} flits)",
                    options.guard_flits, parameters.slot_flits, parameters.bl));
  if (options.phase > parameters.slot())
    return fail(ErrorKind::usage, "the clocks begin more than a slot apart");
  const Int128 slots = Int128{options.synchronisations} * options.interval_slots;
  if (slots * (parameters.slot().count() + parameters.slot().count() / 50) > k_most_simulated_fs)
    return fail(ErrorKind::usage, fmt::format("{} intervals of {} slots are more than an hour of "
                                              "simulated time",
                                              options.synchronisations, options.interval_slots));
  const std::int64_t readings = options.synchronisations *
                                (options.every_slot ? schedule.slots + 1 : 2) *
                                static_cast<std::int64_t>(topology.interfaces().size());
  if (readings > k_most_clock_readings)
    return fail(ErrorKind::usage,
                fmt::format("{} synchronisations of {} interfaces are too many to "
                            "keep the clocks of all",
                            options.synchronisations, topology.interfaces().size()));
  return {};
}

}  // namespace

Femtoseconds Boundary::earliest() const {
  return Femtoseconds(*std::min_element(reached_fs.begin(), reached_fs.end()));
}

Femtoseconds Boundary::latest() const {
  return Femtoseconds(*std::max_element(reached_fs.begin(), reached_fs.end()));
}

std::vector<const Boundary*> SimulationResult::at_slot(std::int64_t slot) const {
  std::vector<const Boundary*> found;
  for (const Boundary& boundary : boundaries) {
    if (boundary.slot == slot) found.push_back(&boundary);
  }
  return found;
}

Femtoseconds SimulationResult::largest_skew(std::int64_t slot, std::int64_t first) const {
  Femtoseconds largest(0);
  for (const Boundary& boundary : boundaries) {
    if (boundary.slot == slot && boundary.synchronisation >= first)
      largest = std::max(largest, boundary.skew());
  }
  return largest;
}

Result<SimulationResult> simulate(const Topology& topology, const Schedule& schedule,
                                  const Parameters& parameters, const SimulationOptions& options,
                                  Progress* progress) {
  TRY(check(topology, schedule, parameters, options));
  return FlitEngine(topology, schedule, parameters, options).run(progress);
}

std::vector<OverrunRisk> overrun_risks(const Topology& topology, const Parameters& parameters,
                                       LinkModel model) {
  std::vector<OverrunRisk> risks;
  for (ChannelIndex c = 0; c < topology.channel_count(); ++c) {
    if (!topology.nodes()[topology.receiver(c)].is_switch) continue;
    const bool from_router = topology.nodes()[topology.sender(c)].is_switch;
    const Femtoseconds period =
        from_router && model == LinkModel::at_switch ? parameters.sd : parameters.cp;
    const Femtoseconds delay = topology.links()[c / 2].delay.value_or(parameters.ld);
    const Femtoseconds way = 2 * delay + 2 * parameters.fc;
    // Routers without a switching delay send a whole packet at once.
    const auto needed = period.count() == 0
                            ? parameters.slot_flits
                            : static_cast<std::int64_t>(ceil_div(way.count(), period.count())) + 1;
    if (parameters.bl - parameters.ks < needed)
      risks.push_back({c, parameters.bl - parameters.ks, needed});
  }
  return risks;
}

}  // namespace entrain::net
