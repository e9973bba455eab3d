// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/team.hpp"
#include "fit/problem.hpp"

namespace entrain::fit {

/// Returns the fit with the number of knots and the amplitude of greatest evidence (MacKay,
/// Bayesian interpolation, 1992). Doubles the knots, up to `most_knots`, while the evidence grows,
/// or else halves them; then searches amplitudes, multiples of the worst violation, by hill
/// climbing. `before`: a fit to similar constraints, from which the search starts, or an empty one.
/// Ignores `problem.knots`. `problem.tolerance` applies only to the fit of all clocks after knots
/// and amplitude came from a sample.
[[nodiscard]] CausalFit choose_fit(CausalProblem problem, std::size_t most_knots,
                                   const CausalFit& before = {});

/// All members of a team have the same input of fits. So rank 0 alone computes them while the
/// others wait. Both functions are collective, with one result for all members.

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
  struct Sent {
    double amplitude = 0, log_evidence = 0;
    std::size_t active = 0;
    bool converged = false;
    std::int64_t begin = 0;
    double spacing = 1;
    std::size_t knots = 0;
  };
  std::vector<double> values;
  const Sent sent = at_root(team, [&]() -> Sent {
    const CausalFit fit = compute();
    values.assign(fit.errors.values().begin(), fit.errors.values().end());
    const ClockErrors& of = fit.errors;
    return {fit.amplitude, fit.log_evidence, fit.active, fit.converged,
            of.begin(),    of.spacing(),     of.knots()};
  });
  values = gather_everywhere(team, values);
  return {sent.amplitude, sent.log_evidence, sent.active, sent.converged,
          ClockErrors(sent.begin, sent.spacing, sent.knots, std::move(values))};
}

}  // namespace entrain::fit
