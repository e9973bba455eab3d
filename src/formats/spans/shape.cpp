// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/reader.hpp"

#include <algorithm>
#include <array>

#include "formats/json/scanner.hpp"

namespace entrain::spans {

namespace {

bool is_list(std::string_view key) {
  // Other signals than spans may stand in the same files.
  constexpr std::array<std::string_view, 3> k_signals{"resourceSpans", "resourceMetrics",
                                                      "resourceLogs"};
  return key == "batches" || key == "data" ||
         std::any_of(k_signals.begin(), k_signals.end(),
                     [&](std::string_view signal) { return is_named(key, signal); });
}

}  // namespace

bool is_wrapper(std::string_view key) {
  return key == "trace" || key == "result" || key == "_source";
}

bool is_protobuf_name(std::string_view key, std::string_view name) {
  std::size_t at = 0;
  for (const char c : name) {
    const bool is_capital = c >= 'A' && c <= 'Z';
    if (is_capital && key.substr(at).starts_with('_')) {
      if (++at == key.size() || key[at++] != c - 'A' + 'a') return false;
    } else if (at == key.size() || key[at++] != c) {
      return false;
    }
  }
  return at == key.size();
}

Shape shape_of(std::string_view text, std::size_t* end) {
  json::Scanner scanner(text);
  std::string_view key, value;
  Shape so_far = Shape::other;
  for (scanner.open('{'); scanner.next_key(key);) {
    const char first = scanner.peek();
    const bool nested = first == '{' || first == '[';
    if (is_list(key)) return Shape::list;
    if (is_wrapper(key) && nested) {
      if (end != nullptr) *end = scanner.position();
      return Shape::wrapped;
    }
    // A trace of Jaeger and its spans name the trace alike; so do spans of Zipkin and of OTLP.
    if (key == "traceID") so_far = Shape::jaeger_trace;
    if ((key == "spans" || key == "processes") && nested) return Shape::jaeger_trace;
    if (key == "spanID" || key == "operationName") return Shape::jaeger_span;
    if (key == "traceId") so_far = Shape::zipkin_span;
    if (key == "localEndpoint" || key == "binaryAnnotations") return Shape::zipkin_span;
    if (key == "id" && so_far == Shape::zipkin_span) return so_far;
    if (key == "spanId" || key == "traceEvents" || key == "ph") return Shape::other;
    if (!scanner.value(value)) break;
  }
  return so_far;
}

}  // namespace entrain::spans
