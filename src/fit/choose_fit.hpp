// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include "fit/problem.hpp"

namespace entrain::fit {

/// Returns the fit with the amplitude and the number of knots of greatest evidence (MacKay,
/// Bayesian interpolation, 1992). Searches amplitudes uphill from that of the worst violation, and
/// doubles the knots, up to `most_knots`, as long as the evidence grows. `before`: a fit to nearly
/// the same constraints, or one without errors; the search then starts there. Ignores
/// `problem.knots`. If a sample of the clocks determines amplitude and knots, `problem.tolerance`
/// applies to the fit to all clocks.
[[nodiscard]] CausalFit choose_fit(CausalProblem problem, std::size_t most_knots,
                                   const CausalFit& before = {});

}  // namespace entrain::fit
