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

/// The result of `net simulate`.
struct SimulationReport {
  TopologySummary topology;
  Parameters parameters;
  DelayRange delays;  ///< delays of the links
  SimulationOptions options;
  MethodRow method;
  Choice choice;  ///< why this method
  std::int64_t levels = 2;
  Femtoseconds drift_allowance{0};  ///< drift x length of the schedule
  std::vector<OverrunRisk> risks;
  std::vector<std::string> channel_names;  ///< name of each channel that the report names, else ""
  SimulationResult result;
  Femtoseconds skew_before{0};  ///< largest at the begin of any schedule but the first
  Femtoseconds skew_after{0};   ///< largest at the end of a schedule
  /// How much the latest clock loses on a free-running slowest one, from the end of one schedule to
  /// the end of the next; the largest such value. Nothing with one synchronisation.
  std::optional<Femtoseconds> lag_per_schedule;
  Femtoseconds blocked_most{0};  ///< longest sum of pauses of one interface
  std::optional<Limit> limit;
  std::vector<std::string> written;  ///< names of files
  double seconds = 0;                ///< run time of the simulation

  /// True if the packets kept the order of their slots, in the schedules and between them.
  [[nodiscard]] bool synchronised() const { return result.inversions == 0; }
  /// How far the skew after a schedule is above the bound in the published reading; 0 if it is not,
  /// or if there is no bound.
  [[nodiscard]] Femtoseconds excess() const;
  /// True if synchrony and bound were kept, no flits would be lost, and the plan holds.
  [[nodiscard]] bool keeps_all() const;
  /// Number of flits that found a buffer full. A real network would lose them.
  [[nodiscard]] std::int64_t overrunning_flits() const;
};

/// Simulates and fills the report, except for the limit and the written files. `name` is that of
/// the topology, `method` the result of evaluate_method() for the schedule. Errors: as simulate().
Result<SimulationReport> evaluate_simulation(const std::string& name, const PlannedNetwork& network,
                                             MethodRow method, const SimulationOptions& options,
                                             Progress* progress);

}  // namespace entrain::net
