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

/// What the plans of a topology are compared for.
struct ChoiceOptions {
  std::optional<Method> method;  ///< nothing: the plan with the least bound
  bool compare = true;           ///< plan with the other methods even if `method` is given
  Sending sending;               ///< as in evaluate_method()
  std::int64_t drift_ppb = 0;
};

/// The plans of a topology, and the one that is taken.
struct PlanChoice {
  std::vector<MethodRow> rows;  ///< in the order of k_methods; without those too large to plan
  Choice choice;
  Schedule schedule;  ///< of the method that is taken

  [[nodiscard]] const MethodRow& row() const;
};

/// Of plans that hold, and of these of those that have an interval, the one with the least bound in
/// the published reading; of equal ones the one with the fewest slots; of equal ones the first.
/// nullptr if none holds.
const MethodRow* least_bound(std::span<const MethodRow> rows);

/// Plans with the methods and takes one. Advances `progress`, whose phase this begins. Errors:
/// ErrorKind::usage if the method that is wanted, or every one, has too many messages, or no plan
/// holds; ErrorKind::interrupted.
Result<PlanChoice> choose_plan(const Topology& topology, const SpanningTree& tree,
                               const Parameters& parameters, const ChoiceOptions& options,
                               Progress* progress);

}  // namespace entrain::net
