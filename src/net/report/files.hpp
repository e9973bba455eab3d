// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "net/model/topology.hpp"
#include "net/plan/schedule.hpp"
#include "net/simulate/simulation_report.hpp"
#include "report/svg.hpp"

namespace entrain::net {

/// One row per message, interface by interface: interface,slot,destination,route (nodes, ' '
/// between them). Names that hold a comma, a quote or a line break are quoted.
std::string schedule_csv(const Topology& topology, const Schedule& schedule);
/// Schema entrain.net.plan/1: per interface its messages.
nlohmann::ordered_json schedule_json(const Topology& topology, const Schedule& schedule,
                                     std::string_view method);

/// One row per boundary between slots that was kept: when the earliest clock got there, the skew,
/// and how much later than that each interface was, nanoseconds.
std::string skew_csv(const Topology& topology, const SimulationReport& report);
/// The skew at these boundaries over time, beside the bounds if the plan has any.
report::Plot skew_plot(const SimulationReport& report);
}  // namespace entrain::net
