// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/report.hpp>

#include "causal/context.hpp"
#include "clocks/presync.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::causal {

/// Bends the presync maps of a trace so that messages and collectives arrive after they were sent,
/// as little as that needs (docs/method.md, section 8). The locations of a domain share one clock,
/// one map and one owner.
///
/// `presync` holds what clock sessions say; where there are none, the clocks are first aligned by
/// straight lines through what the edges allow. A trace in which nothing is violated keeps its
/// maps, and so does one in which the fit does not settle; `presync.clocks.reason` tells. True if
/// some map changed. The maps do not depend on the number of threads or processes. Errors:
/// ErrorKind::interrupted. Collective over the processes.
Result<bool> bend_by_edges(const Context& context, const trace::ClockDomains& domains,
                           clocks::Presynchronised& presync);

}  // namespace entrain::causal
