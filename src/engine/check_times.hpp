// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include <entrain/clock_map.hpp>
#include <entrain/options.hpp>
#include <entrain/progress.hpp>
#include <entrain/report.hpp>

#include "engine/mu.hpp"
#include "session/load.hpp"
#include "trace/clock_domains.hpp"

namespace entrain::engine {

/// Runs verify::check() over a loaded trace with a team of all workers, and fills in where mu comes
/// from. Edges between locations of one clock are counted apart if `domains` has such locations.
/// Collective. Errors: ErrorKind::interrupted when `progress` (may be null) says so.
Result<CheckReport> check_times(session::Workers& workers, const session::LoadedTrace& loaded,
                                std::span<const ClockMap> maps, const CheckOptions& options,
                                const ChosenMu& mu, const trace::ClockDomains& domains,
                                const Progress* progress);

}  // namespace entrain::engine
