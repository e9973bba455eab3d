// SPDX-License-Identifier: BSD-3-Clause
#include "engine/session_span.hpp"

#include <algorithm>
#include <charconv>

#include <fmt/core.h>

#include "engine/load.hpp"

namespace entrain::engine {

std::optional<SessionSpan> session_span(const trace::Trace& trace, std::span<const ClockMap> maps) {
  // Behind a rewrite the records still carry the times of the old clocks; the property counts.
  if (const std::string* text = find_property(trace.definitions, k_property_session_span)) {
    if (const auto span = span_of_property(*text)) return span;
  }
  std::optional<SessionSpan> span;
  for (std::size_t l = 0; l < trace.locations.size(); ++l) {
    const auto& offsets = trace.locations[l].clock_offsets;
    if (offsets.size() < 2) continue;
    const SessionSpan own{maps[l](offsets.front().time), maps[l](offsets.back().time)};
    if (!span) span = own;
    span->begin = std::max(span->begin, own.begin);
    span->end = std::min(span->end, own.end);
  }
  return span;
}

std::string to_property(const SessionSpan& span) {
  return fmt::format("{} {}", span.begin, span.end);
}

std::optional<SessionSpan> span_of_property(const std::string& text) {
  SessionSpan span;
  const char* const end = text.data() + text.size();
  const auto [middle, error] = std::from_chars(text.data(), end, span.begin);
  if (error != std::errc() || middle == end || *middle != ' ') return std::nullopt;
  const auto [rest, second_error] = std::from_chars(middle + 1, end, span.end);
  if (second_error != std::errc() || rest != end) return std::nullopt;
  return span;
}

}  // namespace entrain::engine
