// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/evaluation.hpp"
#include "net/published.hpp"
#include "report/json.hpp"
#include "report/svg.hpp"
#include "report/table.hpp"

namespace entrain::report {

/// What `net tables` shows.
struct TablesReport {
  std::vector<net::PublishedCell> cells;
  std::vector<net::Figure> figures;
  std::vector<std::string> written;  ///< files of the figures

  /// Cells that differ, misprints not among them.
  [[nodiscard]] std::size_t differing() const;
};

std::string to_text(const net::BoundReport& report, const Style& style);
std::string to_text(const net::ScheduleReport& report, const Style& style);
std::string to_text(const net::SimulationReport& report, const Style& style);
std::string to_text(const TablesReport& report, const Style& style);

/// Schema entrain.net.bound/1.
Json to_json(const net::BoundReport& report);
/// Schema entrain.net.schedule/1.
Json to_json(const net::ScheduleReport& report);
/// Schema entrain.net.simulate/1.
Json to_json(const net::SimulationReport& report);
/// Schema entrain.net.tables/1.
Json to_json(const TablesReport& report);

/// One row per message, interface by interface: interface,slot,destination,route (nodes, ' '
/// between them). Names that hold a comma, a quote or a line break are quoted.
std::string schedule_csv(const net::Topology& topology, const net::Schedule& schedule);
/// Schema entrain.net.plan/1: per interface its messages.
Json schedule_json(const net::Topology& topology, const net::Schedule& schedule,
                   std::string_view method);

/// One row per boundary between slots that was kept: when the earliest clock got there, the skew,
/// and how much later than that each interface was, nanoseconds.
std::string skew_csv(const net::Topology& topology, const net::SimulationReport& report);
/// The skew at these boundaries over time, beside the bounds if the plan has any.
Plot skew_plot(const net::SimulationReport& report);
Plot figure_plot(const net::Figure& figure);

}  // namespace entrain::report
