// SPDX-License-Identifier: BSD-3-Clause
#include "net/plan/schedule_report.hpp"

#include <algorithm>

#include "base/cancel.hpp"
#include "base/try.hpp"
#include "net/plan/schedule_skew.hpp"

namespace entrain::net {

TopologySummary summarise(const std::string& name, const Topology& topology,
                          const SpanningTree& tree) {
  return {.name = name,
          .interfaces = topology.interfaces().size(),
          .switches = topology.switch_count(),
          .links = topology.links().size(),
          .root = topology.nodes()[tree.root()].name,
          .levels = tree.levels()};
}

const MethodRow& row_of(std::span<const MethodRow> rows, Method method) {
  return *std::find_if(rows.begin(), rows.end(),
                       [&](const MethodRow& row) { return row.method == method; });
}

const MethodRow& ScheduleReport::chosen_row() const { return row_of(methods, choice.method); }

const MethodRow* ScheduleReport::least_overhead() const {
  const MethodRow* least = nullptr;
  for (const MethodRow& row : methods) {
    if (!row.verification.holds() || row.drift.interval_slots[0] == 0) continue;
    if (least == nullptr || row.drift.overhead_share[0] < least->drift.overhead_share[0])
      least = &row;
  }
  return least;
}

Result<MethodRow> evaluate_method(const PlannedNetwork& network, Method method,
                                  const Sending& sending, std::int64_t drift_ppb,
                                  Progress* progress) {
  const auto& [topology, tree, schedule, parameters] = network;
  MethodRow row;
  row.method = method;
  row.slots = schedule.slots;
  row.messages = static_cast<std::int64_t>(schedule.messages.size());
  const DelayRange delays = link_delays(topology, parameters);
  // On one switch with cables of one length all pairs have the same skew bound; a search through
  // the chains of a thousand interfaces would take long.
  const bool direct = tree.levels() == 2 && method != Method::doubling && delays.are_alike();
  Parameters alike = parameters;
  alike.ld = delays.least;
  for (std::size_t i = 0; i < 2; ++i) {
    const BoundOptions options{.reading = k_readings[i], .sending = sending};
    row.skew[i] = direct ? skew_of_sss(alike, k_readings[i])
                         : skew_of_schedule(schedule, topology, parameters, options, progress);
    TRY(Cancel(progress).check());
  }
  row.drift = drift_row(parameters, row.skew, row.slots, drift_ppb);
  row.verification = verify(topology, schedule);
  return row;
}

}  // namespace entrain::net
