// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "fit/active_set_selector.hpp"
#include "fit/fit_cost.hpp"
#include "fit/problem.hpp"

namespace entrain::fit {

/// Figures of a fit, by all constraints of its problem. `problem.knots` is ignored.
struct FitFigures {
  FitFigures(CausalProblem problem, const CausalFit& fit) {
    problem.knots = fit.errors.knots();
    const ConstraintTable table(problem);
    std::vector<FitConstraint> all;
    for (std::size_t i = 0; i < table.rows().size(); ++i) all.push_back(table.constraint_at(i));
    FitCost function(problem);
    function.add(all);
    function.set_amplitude(fit.amplitude);
    cost = function.value(fit.errors.values());
    worst_violation = function.worst(fit.errors.values());
  }

  double cost = 0;             ///< half of the function that fit_causal() minimises
  double worst_violation = 0;  ///< largest violation of a constraint, ticks
};

}  // namespace entrain::fit
