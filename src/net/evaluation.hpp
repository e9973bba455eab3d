// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "net/bound.hpp"
#include "net/simulator.hpp"
#include "net/verifier.hpp"

/// What the verb `entrain net` reports.
namespace entrain::net {

inline constexpr std::array<Reading, 2> k_readings{Reading::published, Reading::printed};

/// Both readings of a bound: [0] published, [1] printed.
using BothReadings = std::array<Femtoseconds, 2>;

/// A drift, and how often a schedule has to run under it, published reading.
struct DriftRow {
  std::int64_t drift_ppb = 0;
  /// Equation (11), both readings; 0 if impossible, also as the schedule itself takes longer.
  std::array<std::int64_t, 2> interval_slots{};
  std::array<double, 2> overhead_share{};  ///< equation (12); infinite if impossible
};

struct BoundReport {
  Parameters parameters;
  std::int64_t levels = 2;
  std::int64_t ports = 8;
  std::int64_t slots = 0;  ///< of HSS in the full tree (SSS with 2 levels)
  Femtoseconds gap1{0};    ///< all of one switch: p1 = p2 = 1
  GapRange gap2;
  BothReadings gap3{};
  std::array<GapRange, 2> lag;
  BothReadings sss{};
  BothReadings hss{};
  std::vector<DriftRow> drifts;
};

BoundReport evaluate_bound(const Parameters& parameters, std::int64_t ports, std::int64_t levels,
                           const std::vector<std::int64_t>& drifts_ppb);

/// One method on one topology.
struct MethodRow {
  Method method = Method::hss;
  std::int64_t slots = 0;
  std::int64_t messages = 0;
  BothReadings skew{};  ///< skew_of_schedule(); of no meaning if the verification fails
  DriftRow drift;
  Verification verification;
};

struct TopologySummary {
  std::string name;
  std::size_t interfaces = 0, switches = 0, links = 0;
  std::string root;
  std::int64_t levels = 0;
};
TopologySummary summarise(const std::string& name, const Topology& topology,
                          const SpanningTree& tree);

struct ScheduleReport {
  TopologySummary topology;
  Parameters parameters;
  DelayRange delays;  ///< of the links
  std::uint64_t seed = 0;
  std::int64_t drift_ppb = 0;
  std::vector<MethodRow> methods;  ///< those that can be planned
  Method chosen = Method::joined;
  std::string written;  ///< file of the chosen schedule; "" if none

  [[nodiscard]] const MethodRow& chosen_row() const;
  /// The first of those that hold with the least overhead, published reading; nullptr if no plan
  /// has an interval.
  [[nodiscard]] const MethodRow* least_overhead() const;
};

/// `sending` counts where the links have different delays. Advances `progress` by up to twice the
/// interfaces. Errors: ErrorKind::interrupted.
Result<MethodRow> evaluate_method(const Topology& topology, const SpanningTree& tree,
                                  const Schedule& schedule, Method method,
                                  const Parameters& parameters, const Sending& sending,
                                  std::int64_t drift_ppb, Progress* progress);

/// The largest interval at which synchrony holds, found by simulation.
struct Limit {
  std::int64_t interval_slots = 0;  ///< the largest that was seen to hold
  std::int64_t by_equation = 0;     ///< equation (11), published reading
  bool is_lost_beyond = true;       ///< false: longer ones were not tried
  /// Nothing if the equation gives none.
  [[nodiscard]] std::optional<double> margin() const {
    if (by_equation == 0) return std::nullopt;
    return static_cast<double>(interval_slots) / static_cast<double>(by_equation);
  }
};

/// Stretches the interval by bisection, to within 1 %, until a packet takes a link before one of an
/// earlier slot in one of three schedules; intervals beyond 10,000,000 slots, 15 minutes or, where
/// interfaces send between the schedules, 5,000,000 packets are not tried. Errors: as simulate().
Result<Limit> find_limit(const Topology& topology, const Schedule& schedule,
                         const Parameters& parameters, SimulationOptions options,
                         std::int64_t by_equation, Progress* progress);

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
