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
/// a trace knows nothing of its clocks.
struct SessionSpan {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// What the archive's property says (behind a rewrite its records are those of the old clocks);
/// otherwise latest first and earliest last ClockOffset record over all locations that have two or
/// more, through `maps`; otherwise nothing.
std::optional<SessionSpan> session_span(const trace::Trace& trace, std::span<const ClockMap> maps);
/// The same over all processes of a run, which have skeletons and maps of their locations only.
std::optional<SessionSpan> session_span(Team& processes, const trace::Trace& trace,
                                        std::span<const ClockMap> maps);

/// "BEGIN END", the form of the property ENTRAIN::SESSION_SPAN.
std::string to_property(const SessionSpan& span);

/// Nothing if the text has not that form.
std::optional<SessionSpan> span_of_property(const std::string& text);

}  // namespace entrain::clocks
