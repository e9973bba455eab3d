// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "net/model/topology.hpp"
#include "net/plan/schedule.hpp"
#include "net/report/svg.hpp"
#include "net/simulate/simulation_report.hpp"

namespace entrain::net {

/// A table with one row per message, ordered by interface: interface,slot,destination,route. The
/// route names its nodes with ' ' between them. Names with a comma, a quote or a line break are
/// quoted.
std::string schedule_csv(const Topology& topology, const Schedule& schedule);
/// The messages of each interface. Schema entrain.net.plan/1.
nlohmann::ordered_json schedule_json(const Topology& topology, const Schedule& schedule,
                                     std::string_view method);

/// A table with one row per boundary in the result: when the earliest clock reached it, the skew,
/// and how much later each interface was. All in nanoseconds.
std::string skew_csv(const Topology& topology, const SimulationReport& report);
/// The skew at these boundaries over time, beside the skew bounds if the plan holds.
Plot skew_plot(const SimulationReport& report);
}  // namespace entrain::net
