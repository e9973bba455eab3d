// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>

#include <entrain/progress.hpp>

#include "net/model/link_model.hpp"
#include "net/model/skew_bound.hpp"
#include "net/plan/schedule.hpp"

namespace entrain::net {

/// Equations (6) and (7) with the routes of this schedule: the largest skew of a pair of
/// interfaces, where that of a pair is the smallest sum over the chains of precedences between
/// them. All links have the delay of the parameters. A pair without a chain makes it
/// Femtoseconds::max(). Advances `progress` by the interfaces; once that is cancelled it ends
/// early, and the result means nothing.
Femtoseconds skew_of_schedule(const Schedule& schedule, std::size_t interfaces,
                              const Parameters& parameters, Reading reading,
                              Progress* progress = nullptr);

/// The same with the delays of the links of `topology`. Where all are alike, it is the published
/// value for that delay. Where they are not, each holds those whom it precedes by lead_of_pair(),
/// but at least by what skew_of_pair() says of the shortest link; who is held may fall behind by
/// lag_of_held(). It is the largest sum of leads of a pair, and the largest sum of lags along a
/// chain. Only there `sending` counts.
Femtoseconds skew_of_schedule(const Schedule& schedule, const Topology& topology,
                              const Parameters& parameters, Reading reading, const Sending& sending,
                              Progress* progress = nullptr);

}  // namespace entrain::net
