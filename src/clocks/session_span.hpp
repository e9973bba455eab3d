// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include <entrain/clock_map.hpp>

#include "base/team.hpp"
#include "trace/properties.hpp"
#include "trace/trace.hpp"

namespace entrain::clocks {

using trace::SessionSpan;

/// The span that the archive's property gives (after a rewrite its records are those of the old
/// clocks). Without the property: from the latest first to the earliest last ClockOffset record
/// over all locations that have two or more, by `maps`. Nothing if there are no such locations.
std::optional<SessionSpan> session_span(const trace::Trace& trace, std::span<const ClockMap> maps);
/// The same over all processes of a run, each of which has the skeletons and maps of its own
/// locations only. Collective.
std::optional<SessionSpan> session_span(Team& processes, const trace::Trace& trace,
                                        std::span<const ClockMap> maps);

}  // namespace entrain::clocks
