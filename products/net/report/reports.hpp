// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "net/model/bound_report.hpp"
#include "net/plan/schedule_report.hpp"
#include "net/simulate/simulation_report.hpp"
#include "report/table.hpp"

namespace entrain::net {

/// The reports of `entrain net` for people (to_text) and for programs (to_json, and json_text as
/// text).
std::string to_text(const BoundReport& report, const report::Style& style);
std::string to_text(const ScheduleReport& report, const report::Style& style);
std::string to_text(const SimulationReport& report, const report::Style& style);

/// Schema entrain.net.bound/1.
nlohmann::ordered_json to_json(const BoundReport& report);
std::string json_text(const BoundReport& report);
/// Schema entrain.net.schedule/1.
nlohmann::ordered_json to_json(const ScheduleReport& report);
std::string json_text(const ScheduleReport& report);
/// Schema entrain.net.simulate/1.
nlohmann::ordered_json to_json(const SimulationReport& report);
std::string json_text(const SimulationReport& report);

}  // namespace entrain::net
