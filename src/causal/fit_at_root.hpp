// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>
#include <vector>

#include "base/team.hpp"
#include "causal/fit.hpp"

namespace entrain::causal {

/// Fits have the same input at every member of a team, so rank 0 computes them and has the whole
/// machine. Both functions are collective, with the same result at every member.

/// Calls `compute` at rank 0 and broadcasts the result, of a trivially copyable type.
template <class Compute>
[[nodiscard]] auto at_root(Team& team, Compute compute) {
  std::vector<decltype(compute())> result;
  if (team.rank() == 0) result.push_back(compute());
  return gather_everywhere(team, result).front();
}

/// Calls `compute` at rank 0 and broadcasts the fit.
template <class Compute>
[[nodiscard]] CausalFit fit_at_root(Team& team, Compute compute) {
  if (team.size() == 1) return compute();
  struct Figures {
    std::int64_t begin = 0;
    double spacing = 1;
    std::size_t knots = 0;
    double amplitude = 0, cost = 0, log_evidence = 0, worst_violation = 0, gain = 0;
    std::size_t active = 0;
    int steps = 0;
    bool converged = false;
  };
  CausalFit fit;
  std::vector<double> values;
  const Figures found = at_root(team, [&]() -> Figures {
    fit = compute();
    values.assign(fit.errors.values().begin(), fit.errors.values().end());
    return {.begin = fit.errors.begin(),
            .spacing = fit.errors.spacing(),
            .knots = fit.errors.knots(),
            .amplitude = fit.amplitude,
            .cost = fit.cost,
            .log_evidence = fit.log_evidence,
            .worst_violation = fit.worst_violation,
            .gain = fit.gain,
            .active = fit.active,
            .steps = fit.steps,
            .converged = fit.converged};
  });
  values = gather_everywhere(team, values);
  if (team.rank() == 0) return fit;
  fit.errors = ClockErrors(found.begin, found.spacing, found.knots, std::move(values));
  fit.amplitude = found.amplitude;
  fit.cost = found.cost;
  fit.log_evidence = found.log_evidence;
  fit.active = found.active;
  fit.worst_violation = found.worst_violation;
  fit.gain = found.gain;
  fit.steps = found.steps;
  fit.converged = found.converged;
  return fit;
}

}  // namespace entrain::causal
