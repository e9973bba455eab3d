// SPDX-License-Identifier: BSD-3-Clause
#include "net/plan/schedule_report.hpp"

#include <algorithm>

#include "net/plan/schedule_skew.hpp"

namespace entrain::net {

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

}  // namespace entrain::net
