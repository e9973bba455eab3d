// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "causal/fit.hpp"

namespace entrain::causal {

/// About the same as fit_causal(), for clocks that are too many for one system of equations.
///
/// Groups of clocks that share constraints are fitted one after the other, each given what is known
/// of the clocks around it, until none changes by much, or four times. Every such fit lowers the
/// cost of the whole, which is convex, so they approach its minimum. Groups that share no
/// constraint are fitted side by side. Example: 44 clocks on a ring are 4 groups of 11. First 0 and
/// 2 are fitted, then 1 and 3, then 0 and 2 again.
///
/// `log_evidence` is not computed, nor `cost`. Not converged if some group did not settle, or if so
/// many groups meet each other that few could be fitted side by side. Does not depend on the number
/// of threads.
[[nodiscard]] CausalFit fit_by_groups(const CausalProblem& problem, double amplitude,
                                      const ClockErrors& start = {});

/// fit_causal() where clocks that constraints join are few enough, or fit_by_groups(). Of many
/// others, `log_evidence` says nothing.
[[nodiscard]] CausalFit fit_all_clocks(const CausalProblem& problem, double amplitude,
                                       const ClockErrors& start = {});

}  // namespace entrain::causal
