// SPDX-License-Identifier: BSD-3-Clause
#include "net/report/files.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace entrain::net {
namespace {

using Json = nlohmann::ordered_json;

/// Positions of the messages, ordered by source, then slot.
std::vector<std::size_t> by_source(const Schedule& schedule) {
  std::vector<std::size_t> order(schedule.messages.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return schedule.messages[a].source < schedule.messages[b].source;
  });
  return order;
}

/// Nanoseconds with all six decimals.
std::string nanoseconds(Femtoseconds time) {
  return decimal_text(time, std::chrono::nanoseconds(1), 6);
}

}  // namespace

std::string schedule_csv(const Topology& topology, const Schedule& schedule) {
  std::string text = "interface,slot,destination,route\n";
  for (const std::size_t i : by_source(schedule)) {
    const Message& message = schedule.messages[i];
    std::string route;
    for (const NodeIndex node : schedule.route(message))
      route += (route.empty() ? "" : " ") + topology.nodes()[node].name;
    text += fmt::format("{},{},{},{}\n", csv_field(topology.interface_name(message.source)),
                        message.slot, csv_field(topology.interface_name(message.destination)),
                        csv_field(route));
  }
  return text;
}

Json schedule_json(const Topology& topology, const Schedule& schedule, std::string_view method) {
  Json interfaces = Json::array();
  for (const std::size_t i : by_source(schedule)) {
    const Message& message = schedule.messages[i];
    const std::string& name = topology.interface_name(message.source);
    if (interfaces.empty() || interfaces.back()["name"] != name)
      interfaces.push_back({{"name", name}, {"messages", Json::array()}});
    Json route = Json::array();
    for (const NodeIndex node : schedule.route(message))
      route.push_back(topology.nodes()[node].name);
    interfaces.back()["messages"].push_back(
        {{"slot", message.slot},
         {"destination", topology.interface_name(message.destination)},
         {"route", route}});
  }
  return {{"schema", "entrain.net.plan/1"},
          {"method", method},
          {"slots", schedule.slots},
          {"interfaces", interfaces}};
}

std::string skew_csv(const Topology& topology, const SimulationReport& report) {
  std::string text = "synchronisation,slot,earliest_ns,skew_ns";
  for (InterfaceIndex i = 0; i < topology.interfaces().size(); ++i)
    text += "," + csv_field(topology.interface_name(i));
  text += "\n";
  for (const Boundary& boundary : report.result.boundaries) {
    const Femtoseconds earliest = boundary.earliest();
    text += fmt::format("{},{},{},{}", boundary.synchronisation, boundary.slot,
                        nanoseconds(earliest), nanoseconds(boundary.skew()));
    for (const std::int64_t reached_fs : boundary.reached_fs)
      text += "," + nanoseconds(Femtoseconds(reached_fs) - earliest);
    text += "\n";
  }
  return text;
}

Plot skew_plot(const SimulationReport& report) {
  constexpr double k_fs_per_us = 1e9, k_fs_per_ms = 1e12;
  Plot plot{fmt::format("Skew of {}, {}, {} ppm, link model {}", report.topology.name,
                        name_of(report.method.method),
                        static_cast<double>(report.options.drift_ppb) / 1000,
                        name_of(report.options.model)),
            "time, ms",
            "skew, us",
            {}};
  PlotSeries skew{"skew of all interfaces", {}, false};
  for (const Boundary& boundary : report.result.boundaries)
    skew.points.emplace_back(static_cast<double>(boundary.earliest().count()) / k_fs_per_ms,
                             static_cast<double>(boundary.skew().count()) / k_fs_per_us);
  const double last = skew.points.back().first;
  plot.series.push_back(std::move(skew));
  const auto level = [&](const char* name, Femtoseconds value) {
    const double y = static_cast<double>(value.count()) / k_fs_per_us;
    plot.series.push_back({name, {{0, y}, {last, y}}, false});
  };
  const Femtoseconds bound = report.method.skew[0];
  if (report.method.verification.holds() && bound != Femtoseconds::max()) {
    level("bound, published reading", bound);
    level("bound and drift during the schedule", bound + report.drift_allowance);
  }
  level("half a slot", report.parameters.slot() / 2);
  return plot;
}

}  // namespace entrain::net
