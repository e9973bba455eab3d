// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "net/model/link_model.hpp"
#include "net/plan/schedule_report.hpp"
#include "net/simulate/limit.hpp"
#include "net/simulate/simulator.hpp"

namespace entrain::net {

struct SimulationReport {
  TopologySummary topology;
  Parameters parameters;
  DelayRange delays;  ///< of the links
  SimulationOptions options;
  MethodRow method;
  std::int64_t levels = 2;
  Femtoseconds drift_allowance{0};  ///< drift x length of the schedule
  std::vector<OverrunRisk> risks;
  std::vector<std::string> channel_names;  ///< by channel, of those in risks and overruns
  SimulationResult result;
  Femtoseconds skew_before{0};  ///< largest at the begin of a schedule but the first
  Femtoseconds skew_after{0};   ///< largest at the end of a schedule
  /// Largest loss of the latest clock against the free-running slowest one, from the end of one
  /// schedule to that of the next; nothing with one synchronisation.
  std::optional<Femtoseconds> lag_per_schedule;
  Femtoseconds blocked_most{0};  ///< of an interface
  std::optional<Limit> limit;
  std::vector<std::string> written;  ///< files
  double seconds = 0;                ///< that the simulation took

  /// True if the order of the slots was kept in all schedules and between them.
  [[nodiscard]] bool synchronised() const { return result.inversions == 0; }
  /// Flits that found a buffer full: a real network would lose them.
  [[nodiscard]] std::int64_t overrunning_flits() const;
};

/// Simulates and fills all but the limit. `method`: what evaluate_method() says of the schedule.
/// Errors: as simulate().
Result<SimulationReport> evaluate_simulation(const std::string& name, const Topology& topology,
                                             const SpanningTree& tree, const Schedule& schedule,
                                             MethodRow method, const Parameters& parameters,
                                             const SimulationOptions& options, Progress* progress);

}  // namespace entrain::net
