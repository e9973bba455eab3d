// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace entrain::spans {

/// Contents of an object of a JSON text.
enum class Shape : std::uint8_t {
  other,         ///< no spans
  list,          ///< one of the lists of OTLP (resourceSpans) or Jaeger (data)
  wrapped,       ///< another shape under trace, result or _source
  jaeger_trace,  ///< spans and processes
  jaeger_span,
  zipkin_span,
};

/// Determines the shape of the object at the begin of a text by its keys, up to the first one that
/// decides. The text may continue after the object, or be cut off. O(bytes up to there).
///
/// Example: {"traceID": "1", "spans": [...] is Shape::jaeger_trace.
/// Of a wrapped one `end`, if not null, gets the position of what is wrapped.
Shape shape_of(std::string_view text, std::size_t* end = nullptr);

/// True for keys under which some tools nest the contents of a document.
bool is_wrapper(std::string_view key);

/// True if a key is the Protobuf form of this name of OTLP, in a part or all of it.
bool is_protobuf_name(std::string_view key, std::string_view name);

/// True if a key is this name of OTLP, or its Protobuf form: start_time instead of startTime.
inline bool is_named(std::string_view key, std::string_view name) {
  return key == name || (key.size() > name.size() && is_protobuf_name(key, name));
}

}  // namespace entrain::spans
