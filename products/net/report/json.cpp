// SPDX-License-Identifier: BSD-3-Clause
#include "net/report/reports.hpp"

#include <nlohmann/json.hpp>

#include "report/json.hpp"

namespace entrain::net {
namespace {

using report::number;
using Json = nlohmann::ordered_json;

Json seconds(Femtoseconds time) {
  return time == Femtoseconds::max() ? Json(nullptr) : Json(seconds_of(time));
}

Json both(const BothReadings& skew) {
  return {{"published_s", seconds(skew[0])}, {"printed_s", seconds(skew[1])}};
}

Json range(GapRange gap) {
  return {{"least_s", seconds(gap.least)}, {"most_s", seconds(gap.most)}};
}

Json parameters_json(const Parameters& parameters) {
  return {{"ld_s", seconds(parameters.ld)},
          {"cp_s", seconds(parameters.cp)},
          {"sd_s", seconds(parameters.sd)},
          {"rd_s", seconds(parameters.rd)},
          {"fc_s", seconds(parameters.fc)},
          {"bl", parameters.bl},
          {"ks", parameters.ks},
          {"kg", parameters.kg},
          {"slot_flits", parameters.slot_flits},
          {"slot_s", seconds(parameters.slot())}};
}

/// null: without drift any interval is short enough.
Json interval_json(const DriftRow& row, std::size_t reading) {
  if (row.drift_ppb == 0 && row.interval_slots[reading] > 0) return nullptr;
  return row.interval_slots[reading];
}

Json overhead_json(const DriftRow& row, std::size_t reading) {
  if (row.drift_ppb == 0) return nullptr;
  return number(row.overhead_share[reading]);
}

Json drift_json(const DriftRow& row) {
  return {{"drift_ppb", row.drift_ppb},
          {"interval_slots", interval_json(row, 0)},
          {"overhead_share", overhead_json(row, 0)},
          {"printed_interval_slots", interval_json(row, 1)},
          {"printed_overhead_share", overhead_json(row, 1)}};
}

Json verification_json(const Verification& verification) {
  return {{"holds", verification.holds()},
          {"malformed", verification.malformed},
          {"conflicts", verification.conflicts},
          {"missing_precedences", verification.missing},
          {"example", verification.sentence()}};
}

/// A plan that fails has neither skew bound nor interval.
Json method_json(const MethodRow& row) {
  const bool holds = row.verification.holds();
  return {{"method", name_of(row.method)},
          {"slots", row.slots},
          {"messages", row.messages},
          {"bound", holds ? both(row.skew) : Json(nullptr)},
          {"drift", holds ? drift_json(row.drift) : Json(nullptr)},
          {"verification", verification_json(row.verification)}};
}

Json delays_json(DelayRange delays) {
  return {{"least_s", seconds(delays.least)}, {"most_s", seconds(delays.most)}};
}

Json choice_json(const Choice& choice) {
  Json equals = Json::array();
  for (const Method method : choice.equals) equals.push_back(name_of(method));
  return {{"by", choice.by_bound ? "least_bound" : "method"},
          {"plans_compared", choice.compared},
          {"equal_bounds", equals}};
}

Json topology_json(const TopologySummary& topology) {
  return {{"name", topology.name},         {"interfaces", topology.interfaces},
          {"switches", topology.switches}, {"links", topology.links},
          {"root", topology.root},         {"levels", topology.levels}};
}

Json risks_json(const SimulationReport& report) {
  Json risks = Json::array();
  for (const OverrunRisk& risk : report.risks)
    risks.push_back({{"link", report.channel_names[risk.channel]},
                     {"room_flits", risk.room},
                     {"needed_flits", risk.needed}});
  return risks;
}

Json overruns_json(const SimulationReport& report) {
  Json overruns = Json::array();
  for (const Overrun& overrun : report.result.overruns)
    overruns.push_back({{"link", report.channel_names[overrun.channel]},
                        {"flits", overrun.flits},
                        {"largest_flits", overrun.largest}});
  return overruns;
}

Json inversion_json(const SimulationReport& report) {
  if (report.synchronised()) return nullptr;
  const Inversion& first = *report.result.first_inversion;
  return {{"count", report.result.inversions},
          {"link", report.channel_names[first.channel]},
          {"first_slot", first.first_slot},
          {"second_slot", first.second_slot}};
}

}  // namespace

Json to_json(const BoundReport& report) {
  Json drifts = Json::array();
  for (const DriftRow& row : report.drifts) drifts.push_back(drift_json(row));
  return {{"schema", "entrain.net.bound/1"},
          {"parameters", parameters_json(report.parameters)},
          {"ports", report.ports},
          {"levels", report.levels},
          {"slots", report.slots},
          {"gap1_s", seconds(report.gap1)},
          {"gap2", range(report.gap2)},
          {"gap3", both(report.gap3)},
          {"gap_min", both({report.lag[0].least, report.lag[1].least})},
          {"gap_max", both({report.lag[0].most, report.lag[1].most})},
          {"sss", both(report.sss)},
          {"hss", both(report.hss)},
          {"drifts", drifts}};
}

std::string json_text(const BoundReport& report) { return report::dump(to_json(report)); }

Json to_json(const ScheduleReport& report) {
  Json methods = Json::array();
  for (const MethodRow& row : report.methods) methods.push_back(method_json(row));
  const MethodRow* const least = report.least_overhead();
  return {{"schema", "entrain.net.schedule/1"},
          {"topology", topology_json(report.topology)},
          {"parameters", parameters_json(report.parameters)},
          {"link_delays", delays_json(report.delays)},
          {"seed", report.seed},
          {"methods", methods},
          {"chosen", name_of(report.choice.method)},
          {"chosen_by", choice_json(report.choice)},
          {"least_overhead", least == nullptr ? Json(nullptr) : Json(name_of(least->method))},
          {"written", report.written.empty() ? Json::array() : Json::array({report.written})}};
}

std::string json_text(const ScheduleReport& report) { return report::dump(to_json(report)); }

Json to_json(const SimulationReport& report) {
  const SimulationResult& result = report.result;
  const SimulationOptions& options = report.options;
  Json limit = nullptr;
  if (report.limit) {
    const auto margin = report.limit->margin();
    limit = {{"interval_slots", report.limit->interval_slots},
             {"lost_beyond", report.limit->is_lost_beyond},
             {"equation_slots", report.limit->by_equation},
             {"margin", margin ? Json(*margin) : Json(nullptr)}};
  }
  Json skews = Json::array();
  for (const Boundary* end : result.at_slot(report.method.slots))
    skews.push_back(seconds(end->skew()));
  return {{"schema", "entrain.net.simulate/1"},
          {"topology", topology_json(report.topology)},
          {"parameters", parameters_json(report.parameters)},
          {"link_delays", delays_json(report.delays)},
          {"method", method_json(report.method)},
          {"chosen_by", choice_json(report.choice)},
          {"model", name_of(options.model)},
          {"guard_flits", options.guard_flits},
          {"drift_ppb", options.drift_ppb},
          {"phase_s", seconds(options.phase)},
          {"load_share", options.load},
          {"seed", options.seed},
          {"synchronisations", options.synchronisations},
          {"interval_slots", options.interval_slots},
          {"overhead_share",
           static_cast<double>(report.method.slots) / static_cast<double>(options.interval_slots)},
          {"first_skew_s", seconds(result.boundaries.front().skew())},
          {"skew_before_s", seconds(report.skew_before)},
          {"skew_after_s", seconds(report.skew_after)},
          {"skews_after_s", skews},
          {"drift_allowance_s", seconds(report.drift_allowance)},
          {"bound_exceeded_s", seconds(report.excess())},
          {"lag_per_schedule_s",
           report.lag_per_schedule ? seconds(*report.lag_per_schedule) : Json(nullptr)},
          {"blocked_most_s", seconds(report.blocked_most)},
          {"overruns_predicted", risks_json(report)},
          {"overruns", overruns_json(report)},
          {"largest_occupancy_flits", result.largest_occupancy},
          {"flits", result.injected_flits},
          {"packets", result.packets},
          {"would_be_lost_flits", report.overrunning_flits()},
          {"inversion", inversion_json(report)},
          {"synchronised", report.synchronised()},
          {"limit", limit},
          {"written", report.written},
          {"events", result.events},
          {"skipped_flits", result.skipped_flits},
          {"simulated_s", seconds(result.simulated)},
          {"seconds", number(report.seconds)}};
}

std::string json_text(const SimulationReport& report) { return report::dump(to_json(report)); }

}  // namespace entrain::net
