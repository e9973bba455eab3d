// SPDX-License-Identifier: BSD-3-Clause
#include "clocks/session_span.hpp"

#include <algorithm>
#include <limits>

namespace entrain::clocks {

std::optional<SessionSpan> session_span(const trace::Trace& trace, std::span<const ClockMap> maps) {
  Solo solo;
  return session_span(solo, trace, maps);
}

std::optional<SessionSpan> session_span(Team& processes, const trace::Trace& trace,
                                        std::span<const ClockMap> maps) {
  // Behind a rewrite the records still carry the times of the old clocks; the property counts.
  if (const std::string* text =
          trace::find_property(trace.definitions, trace::k_property_session_span)) {
    if (const auto span = trace::span_of_property(*text)) return span;
  }
  bool any = false;
  SessionSpan span{std::numeric_limits<std::int64_t>::min(),
                   std::numeric_limits<std::int64_t>::max()};
  for (std::size_t l = 0; l < trace.locations.size(); ++l) {
    const auto& offsets = trace.locations[l].clock_offsets;
    if (offsets.size() < 2) continue;
    any = true;
    span.begin = std::max(span.begin, maps[l](offsets.front().time));
    span.end = std::min(span.end, maps[l](offsets.back().time));
  }
  if (!processes.any(any)) return std::nullopt;
  span.begin = processes.reduce(Team::Reduction::max, span.begin);
  span.end = processes.reduce(Team::Reduction::min, span.end);
  return span;
}

}  // namespace entrain::clocks
