// SPDX-License-Identifier: BSD-3-Clause
#include "net/evaluation.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "base/exact.hpp"
#include "base/try.hpp"

namespace entrain::net {
namespace {

DriftRow drift_row(const Parameters& parameters, const BothReadings& skew, std::int64_t slots,
                   std::int64_t drift_ppb) {
  DriftRow row;
  row.drift_ppb = drift_ppb;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t interval = interval_slots(parameters, skew[i], drift_ppb);
    row.interval_slots[i] = interval < slots ? 0 : interval;
    row.overhead_share[i] = overhead_share(slots, row.interval_slots[i]);
  }
  return row;
}

/// `time` of a clock that is `rate_ppb` too slow.
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

BoundReport evaluate_bound(const Parameters& parameters, std::int64_t ports, std::int64_t levels,
                           const std::vector<std::int64_t>& drifts_ppb) {
  BoundReport report;
  report.parameters = parameters;
  report.levels = levels;
  report.ports = ports;
  report.slots = full_tree_slots(ports, levels);
  report.gap1 = gap1(parameters, 1);
  report.gap2 = gap2(parameters, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    report.gap3[i] = gap3(parameters, 1, k_readings[i]);
    report.lag[i] = lag_range(parameters, 1, 1, k_readings[i]);
    report.sss[i] = skew_of_sss(parameters, k_readings[i]);
    report.hss[i] = skew_of_hss(parameters, levels, k_readings[i]);
  }
  for (const std::int64_t drift_ppb : drifts_ppb)
    report.drifts.push_back(drift_row(parameters, report.hss, report.slots, drift_ppb));
  return report;
}

TopologySummary summarise(const std::string& name, const Topology& topology,
                          const SpanningTree& tree) {
  return {name,
          topology.interfaces().size(),
          topology.switch_count(),
          topology.links().size(),
          topology.nodes()[tree.root()].name,
          tree.levels()};
}

const MethodRow& ScheduleReport::chosen_row() const {
  return *std::find_if(methods.begin(), methods.end(),
                       [&](const MethodRow& row) { return row.method == chosen; });
}

const MethodRow* ScheduleReport::least_overhead() const {
  const MethodRow* least = nullptr;
  for (const MethodRow& row : methods) {
    if (!row.verification.holds() || row.drift.interval_slots[0] == 0) continue;
    if (least == nullptr || row.drift.overhead_share[0] < least->drift.overhead_share[0])
      least = &row;
  }
  return least;
}

std::int64_t SimulationReport::overrunning_flits() const {
  return std::accumulate(
      result.overruns.begin(), result.overruns.end(), std::int64_t{0},
      [](std::int64_t sum, const Overrun& overrun) { return sum + overrun.flits; });
}

Result<MethodRow> evaluate_method(const Topology& topology, const SpanningTree& tree,
                                  const Schedule& schedule, Method method,
                                  const Parameters& parameters, const Sending& sending,
                                  std::int64_t drift_ppb, Progress* progress) {
  const auto interrupted = [&] { return progress != nullptr && progress->cancelled(); };
  MethodRow row;
  row.method = method;
  row.slots = schedule.slots;
  row.messages = static_cast<std::int64_t>(schedule.messages.size());
  const DelayRange delays = link_delays(topology, parameters);
  // On one switch with cables of one length all pairs are alike; to go through the chains of a
  // thousand would take long.
  const bool direct = tree.levels() == 2 && method != Method::doubling && delays.are_alike();
  Parameters alike = parameters;
  alike.ld = delays.least;
  for (std::size_t i = 0; i < 2; ++i) {
    row.skew[i] =
        direct ? skew_of_sss(alike, k_readings[i])
               : skew_of_schedule(schedule, topology, parameters, k_readings[i], sending, progress);
    if (interrupted()) return fail(ErrorKind::interrupted, "interrupted");
  }
  row.drift = drift_row(parameters, row.skew, row.slots, drift_ppb);
  row.verification = verify(topology, schedule);
  return row;
}

Result<Limit> find_limit(const Topology& topology, const Schedule& schedule,
                         const Parameters& parameters, SimulationOptions options,
                         std::int64_t by_equation, Progress* progress) {
  constexpr std::int64_t k_most_slots = 10'000'000;
  constexpr Femtoseconds k_longest = std::chrono::minutes(15);
  constexpr double k_most_packets = 5e6;  // of --load, which are not passed over
  options.synchronisations = 3;
  const double packets_per_slot = options.load * static_cast<double>(options.synchronisations) *
                                  static_cast<double>(topology.interfaces().size());
  std::int64_t most = std::min(k_most_slots, k_longest / parameters.slot());
  if (packets_per_slot * static_cast<double>(most) > k_most_packets)
    most = static_cast<std::int64_t>(k_most_packets / packets_per_slot);
  most = std::max(most, schedule.slots);
  options.every_slot = false;
  const auto holds = [&](std::int64_t interval) -> Result<bool> {
    options.interval_slots = interval;
    TRY_ASSIGN(const SimulationResult result,
               simulate(topology, schedule, parameters, options, progress));
    return result.inversions == 0;
  };
  std::int64_t good = 0, bad = std::min(std::max(by_equation, schedule.slots), most);
  for (;; bad = std::min(2 * bad, most)) {
    TRY_ASSIGN(const bool held, holds(bad));
    if (!held) break;
    good = bad;
    if (bad == most) return Limit{good, by_equation, false};
  }
  while (bad - good > std::max<std::int64_t>(good / 100, 1)) {
    const std::int64_t middle = std::max(good + (bad - good) / 2, schedule.slots);
    if (middle == bad) break;
    TRY_ASSIGN(const bool held, holds(middle));
    (held ? good : bad) = middle;
  }
  return Limit{good, by_equation, true};
}

Result<SimulationReport> evaluate_simulation(const std::string& name, const Topology& topology,
                                             const SpanningTree& tree, const Schedule& schedule,
                                             MethodRow method, const Parameters& parameters,
                                             const SimulationOptions& options, Progress* progress) {
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
