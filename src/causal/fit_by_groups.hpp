// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "causal/fit.hpp"

namespace entrain::causal {

/// Approximates fit_causal() for clocks that are too many for one system of equations: block
/// coordinate descent over groups of clocks, coloured so that groups of one colour are independent.
///
/// A group is fitted with the errors of the clocks around it fixed. Sweeps end when no error
/// changes by much, or after four. Every such fit lowers the convex cost of the whole. Groups of
/// one colour share no constraint and are fitted in parallel. Example: 44 clocks on a ring are 4
/// groups of 11. First 0 and 2 are fitted, then 1 and 3, then 0 and 2 again.
///
/// `log_evidence` and `cost` are not computed. Not converged if a group does not converge, or if
/// there are too many colours to run in parallel. Does not depend on the number of threads.
[[nodiscard]] CausalFit fit_by_groups(const CausalProblem& problem, double amplitude,
                                      const ClockErrors& start = {});

/// fit_causal() or, if constraints join more than 4,096 clocks, fit_by_groups(), which leaves
/// `log_evidence` undefined.
[[nodiscard]] CausalFit fit_all_clocks(const CausalProblem& problem, double amplitude,
                                       const ClockErrors& start = {});

}  // namespace entrain::causal
