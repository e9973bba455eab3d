// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "fit/problem.hpp"

namespace entrain::fit {

/// Returns the fit with the number of knots and the amplitude of greatest evidence (MacKay,
/// Bayesian interpolation, 1992). Doubles the knots, up to `most_knots`, while the evidence grows,
/// or else halves them; then climbs over amplitudes, multiples of the worst violation. `before`: a
/// fit to nearly the same constraints, from which the search starts, or an empty one. Ignores
/// `problem.knots`. `problem.tolerance` applies only to the fit of all clocks after knots and
/// amplitude came from a sample.
[[nodiscard]] CausalFit choose_fit(CausalProblem problem, std::size_t most_knots,
                                   const CausalFit& before = {});

}  // namespace entrain::fit
