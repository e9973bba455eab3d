// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "net/model/bound_report.hpp"
#include "net/model/link_model.hpp"
#include "net/plan/method.hpp"
#include "net/plan/planned_network.hpp"
#include "net/plan/verifier.hpp"

namespace entrain::net {

/// The plan of one method for one topology.
struct MethodRow {
  Method method = Method::hss;
  std::int64_t slots = 0;
  std::int64_t messages = 0;
  BothReadings skew{};  ///< skew_of_schedule(); has no meaning if the verification fails
  DriftRow drift;
  Verification verification;
};

/// The row of `method`, which must be among `rows`.
const MethodRow& row_of(std::span<const MethodRow> rows, Method method);

/// The method whose plan is taken, and why.
struct Choice {
  Method method = Method::hss;
  bool by_bound = false;       ///< it has the least bound; false: the user named it
  std::size_t compared = 0;    ///< plans that hold, this one included
  std::vector<Method> equals;  ///< others with the same bound that take as many slots or more
};

struct TopologySummary {
  std::string name;
  std::size_t interfaces = 0, switches = 0, links = 0;
  std::string root;
  std::int64_t levels = 0;
};
TopologySummary summarise(const std::string& name, const Topology& topology,
                          const SpanningTree& tree);

/// The result of `net schedule`.
struct ScheduleReport {
  TopologySummary topology;
  Parameters parameters;
  DelayRange delays;  ///< delays of the links
  std::uint64_t seed = 0;
  std::int64_t drift_ppb = 0;
  std::vector<MethodRow> methods;  ///< methods, except those with too many messages to plan
  Choice choice;
  std::string written;  ///< file of the chosen schedule; "" if none

  [[nodiscard]] const MethodRow& chosen_row() const;
  /// The plan that holds and has the least overhead in the published reading; the first of several.
  /// nullptr if no plan has an interval.
  [[nodiscard]] const MethodRow* least_overhead() const;
};

/// Verifies the schedule of `network` and computes its skew bound and interval. `sending` counts
/// where the links have different delays. Advances `progress` by up to twice the number of
/// interfaces. Errors: ErrorKind::interrupted.
Result<MethodRow> evaluate_method(const PlannedNetwork& network, Method method,
                                  const Sending& sending, std::int64_t drift_ppb,
                                  Progress* progress);

}  // namespace entrain::net
