// SPDX-License-Identifier: BSD-3-Clause
#include "net/simulate/simulation_report.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/exact.hpp"
#include "base/try.hpp"

namespace entrain::net {
namespace {

/// The time that a clock needs for `time_fs` if it is `rate_ppb` too slow.
std::int64_t stretched_fs(std::int64_t time_fs, std::int64_t rate_ppb) {
  return time_fs + static_cast<std::int64_t>(Int128{time_fs} * rate_ppb / k_billion);
}

std::optional<Femtoseconds> lag_of(const SimulationReport& report, std::int64_t slots) {
  const std::int64_t slowest =
      *std::max_element(report.result.rate_ppb.begin(), report.result.rate_ppb.end());
  const std::int64_t free_fs =
      stretched_fs(report.options.interval_slots * report.parameters.slot().count(), slowest);
  const auto ends = report.result.at_slot(slots);
  std::optional<Femtoseconds> most;
  for (std::size_t i = 1; i < ends.size(); ++i) {
    const Femtoseconds lag = ends[i]->latest() - ends[i - 1]->latest() - Femtoseconds(free_fs);
    most = std::max(most.value_or(lag), lag);
  }
  return most;
}

void name_channels(const Topology& topology, SimulationReport& report) {
  report.channel_names.resize(topology.channel_count());
  const auto add = [&](ChannelIndex c) { report.channel_names[c] = topology.channel_name(c); };
  for (const OverrunRisk& risk : report.risks) add(risk.channel);
  for (const Overrun& overrun : report.result.overruns) add(overrun.channel);
  if (report.result.first_inversion) add(report.result.first_inversion->channel);
}

}  // namespace

Femtoseconds SimulationReport::excess() const {
  // A bound that no chain gives is Femtoseconds::max(), and never exceeded.
  if (!method.verification.holds()) return Femtoseconds(0);
  return std::max(skew_after - method.skew[0], Femtoseconds(0));
}

bool SimulationReport::keeps_all() const {
  return synchronised() && method.verification.holds() && excess() == Femtoseconds(0) &&
         overrunning_flits() == 0;
}

std::int64_t SimulationReport::overrunning_flits() const {
  return std::accumulate(
      result.overruns.begin(), result.overruns.end(), std::int64_t{0},
      [](std::int64_t sum, const Overrun& overrun) { return sum + overrun.flits; });
}

Result<SimulationReport> evaluate_simulation(const std::string& name, const PlannedNetwork& network,
                                             MethodRow method, const SimulationOptions& options,
                                             Progress* progress) {
  const auto& [topology, tree, schedule, parameters] = network;
  SimulationReport report;
  report.topology = summarise(name, topology, tree);
  report.parameters = parameters;
  report.options = options;
  report.levels = tree.levels();
  report.delays = link_delays(topology, parameters);
  report.method = std::move(method);
  report.drift_allowance =
      Femtoseconds(stretched_fs(schedule.slots * parameters.slot().count(), options.drift_ppb) -
                   schedule.slots * parameters.slot().count());
  report.risks = overrun_risks(topology, parameters, options.model);
  const auto begin = std::chrono::steady_clock::now();
  TRY_ASSIGN(report.result, simulate(topology, schedule, parameters, options, progress));
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  report.skew_before = report.result.largest_skew(0, 1);
  report.skew_after = report.result.largest_skew(schedule.slots);
  report.lag_per_schedule = lag_of(report, schedule.slots);
  report.blocked_most = Femtoseconds(
      *std::max_element(report.result.blocked_fs.begin(), report.result.blocked_fs.end()));
  name_channels(topology, report);
  return report;
}

}  // namespace entrain::net
