// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <entrain/progress.hpp>

#include "net/model/skew_bound.hpp"
#include "net/model/topology.hpp"
#include "net/plan/schedule.hpp"

namespace entrain::net {

/// Equations (6) and (7) with the routes of this schedule: its skew bound. The bound of a pair of
/// interfaces is the smallest sum of skew bounds over the chains of precedences between them; the
/// result is the largest over all pairs. All links have the delay Parameters::ld.
///
/// Returns Femtoseconds::max() if no chain connects some pair. Advances `progress` by one per
/// interface. Once that is cancelled, the function ends early and its result has no meaning.
Femtoseconds skew_of_schedule(const Schedule& schedule, std::size_t interfaces,
                              const Parameters& parameters, Reading reading,
                              Progress* progress = nullptr);

/// The same with the delays of the links of `topology`.
///
/// If all delays are equal, the result is the published value for that delay. Otherwise it is the
/// largest sum of leads along the best chain of a pair, plus the largest sum of lags along a chain.
/// The lead of a direct precedence is lead_of_pair(), but at least skew_of_pair() for the shortest
/// link; its lag is lag_of_held(). Only in this case does `options.sending` count.
Femtoseconds skew_of_schedule(const Schedule& schedule, const Topology& topology,
                              const Parameters& parameters, const BoundOptions& options,
                              Progress* progress = nullptr);

}  // namespace entrain::net
