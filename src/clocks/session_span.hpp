// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <entrain/clock_map.hpp>

#include "base/team.hpp"
#include "trace/trace.hpp"

namespace entrain::clocks {

/// The time between the first and the last measurement of the clocks, global ticks. Outside of it
/// nothing is known of the clocks.
struct SessionSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// The span that the archive's property gives (after a rewrite its records are those of the old
/// clocks). Without the property: from the latest first to the earliest last ClockOffset record
/// over all locations that have two or more, by `maps`. Nothing if there are no such locations.
std::optional<SessionSpan> session_span(const trace::Trace& trace, std::span<const ClockMap> maps);
/// The same over all processes of a run, each of which has the skeletons and maps of its own
/// locations only. Collective.
std::optional<SessionSpan> session_span(Team& processes, const trace::Trace& trace,
                                        std::span<const ClockMap> maps);

/// "BEGIN END", the form of the property ENTRAIN::SESSION_SPAN.
std::string to_property(const SessionSpan& span);

/// The span in the text of that property; nothing if the text has another form.
std::optional<SessionSpan> span_of_property(const std::string& text);

}  // namespace entrain::clocks
