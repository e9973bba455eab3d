// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace entrain::spans {

/// What an object of a JSON text holds.
enum class Shape : std::uint8_t {
  other,         ///< nothing of spans
  list,          ///< one of the lists of OTLP (resourceSpans) or Jaeger (data)
  wrapped,       ///< one of the others under trace, result or _source
  jaeger_trace,  ///< spans and processes
  jaeger_span,
  zipkin_span,
};

/// Tells it by the keys of the object that the text begins with, up to the first one that decides;
/// the text may go on behind it, or be cut off. O(bytes up to there).
///
/// Example: {"traceID": "1", "spans": [...] is Shape::jaeger_trace.
Shape shape_of(std::string_view text);

/// True for keys under which tools put what others put into the document itself.
bool is_wrapper(std::string_view key);

/// True if a key is this name of OTLP, or the one that Protobuf has for it: start_time instead of
/// startTime.
bool is_named(std::string_view key, std::string_view name);

}  // namespace entrain::spans
