// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "net/plan/method.hpp"
#include "net/plan/schedule_report.hpp"

namespace entrain::net {

/// Options of the comparison of plans.
struct ChoiceOptions {
  std::optional<Method> method;  ///< nothing: the plan with the least bound
  bool compare = true;           ///< plan with the other methods even if `method` is given
  Sending sending;               ///< see evaluate_method()
  std::int64_t drift_ppb = 0;
};

/// The plans of a topology, and the one that is taken.
struct PlanChoice {
  std::vector<MethodRow> rows;  ///< rows in the order of k_methods, except methods with too many
                                ///< messages to plan
  Choice choice;
  Schedule schedule;  ///< schedule of the chosen method

  [[nodiscard]] const MethodRow& row() const;
};

/// Returns the best plan: it must hold; plans with an interval come first, then the smallest bound
/// in the published reading, then the fewest slots, then the first. nullptr if none holds.
const MethodRow* least_bound(std::span<const MethodRow> rows);

/// Plans with the methods and takes one. Advances `progress`, whose phase this begins. Errors:
/// ErrorKind::usage if the method that is wanted, or every one, has too many messages, or no plan
/// holds; ErrorKind::interrupted.
Result<PlanChoice> choose_plan(const Topology& topology, const SpanningTree& tree,
                               const Parameters& parameters, const ChoiceOptions& options,
                               Progress* progress);

}  // namespace entrain::net
