// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <entrain/report.hpp>

#include "clocks/presync.hpp"
#include "constraints/context.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::causal {

/// Bends the presync maps of a trace as little as needed for messages and collectives to arrive
/// after they were sent (docs/method.md, section 8). The locations of a domain share one clock, one
/// map and one owner.
///
/// `presync` holds the maps that clock sessions give. Without sessions, the clocks are first
/// aligned by straight lines (align_unmeasured()). The maps stay if nothing is violated and if the
/// fit does not converge; `presync.clocks.reason` then says why. True if some map changed. The maps
/// do not depend on the number of threads or processes. Errors: ErrorKind::interrupted. Collective
/// over the processes.
Result<bool> bend_by_edges(const constraints::Context& context, const trace::ClockDomains& domains,
                           clocks::Presynchronised& presync);

}  // namespace entrain::causal
