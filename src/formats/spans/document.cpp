// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>

#include "formats/json/scanner.hpp"
#include "formats/spans/reader.hpp"

namespace entrain::spans {
namespace {

/// Contents of an object of a JSON text.
enum class Shape : std::uint8_t {
  other,         ///< no spans
  list,          ///< one of the lists of OTLP (resourceSpans) or Jaeger (data)
  wrapped,       ///< another shape under trace, result or _source
  jaeger_trace,  ///< spans and processes
  jaeger_span,
  zipkin_span,
};

bool is_list(std::string_view key) {
  // Other signals than spans may stand in the same files.
  constexpr std::array<std::string_view, 3> k_signals{"resourceSpans", "resourceMetrics",
                                                      "resourceLogs"};
  return key == "batches" || key == "data" ||
         std::any_of(k_signals.begin(), k_signals.end(),
                     [&](std::string_view signal) { return is_named(key, signal); });
}

/// True for keys under which some tools nest the contents of a document.
bool is_wrapper(std::string_view key) {
  return key == "trace" || key == "result" || key == "_source";
}

/// Determines the shape of the object at the begin of a text by its keys, up to the first one that
/// decides. The text may continue after the object, or be cut off. `end`: gets the position of what
/// is wrapped. O(bytes up to there).
///
/// Example: {"traceID": "1", "spans": [...] is Shape::jaeger_trace.
Shape shape_of(std::string_view text, std::size_t& end) {
  json::Scanner scanner(text);
  std::string_view key, value;
  Shape so_far = Shape::other;
  for (scanner.open('{'); scanner.next_key(key);) {
    const char first = scanner.peek();
    const bool nested = first == '{' || first == '[';
    if (is_list(key)) return Shape::list;
    if (is_wrapper(key) && nested) {
      end = scanner.position();
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

/// Reads an element of a list, or a whole document. Traces of Zipkin are lists of spans. Files may
/// contain other signals than spans.
bool read_element(Reader& reader, value from, bool& known, int depth = 0) {
  constexpr int k_most_depth = 4;
  if (depth > k_most_depth) return true;
  if (!is_a(from, ondemand::json_type::object)) {
    const bool is_array = is_a(from, ondemand::json_type::array);
    known = known || is_array;
    return !is_array || each_element(from, [&](value inner) {
      return read_element(reader, inner, known, depth + 1);
    });
  }
  const char* const object = from.raw_json_token().data();
  std::size_t end = 0;
  const Shape shape =
      shape_of(reader.text.substr(static_cast<std::size_t>(object - reader.text.data())), end);
  known = known || (shape != Shape::other && shape != Shape::wrapped);
  if (shape == Shape::zipkin_span) return read_zipkin_span(reader, from);
  if (shape == Shape::jaeger_span) return read_jaeger_span(reader, from);
  if (shape == Shape::jaeger_trace) return read_jaeger_trace(reader, from);
  return each_member(from, [&](std::string_view key, value inner) {
    if (shape == Shape::other) return true;
    const bool is_otlp = is_named(key, "resourceSpans") || key == "batches";
    const bool is_other = is_named(key, "resourceMetrics") || is_named(key, "resourceLogs");
    known = known || is_otlp || is_other || key == "data";
    if (is_other) reader.spans.other_signal = is_named(key, "resourceLogs") ? "logs" : "metrics";
    if (is_otlp) return read_otlp(reader, inner);
    if (key == "data") {
      return each_element(inner, [&](value trace) { return read_jaeger_trace(reader, trace); });
    }
    return !is_wrapper(key) || read_element(reader, inner, known, depth + 1);
  });
}

}  // namespace

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

bool are_documents(std::string_view beginning) {
  json::Scanner scanner(beginning);
  for (int depth = 0; depth < 2 && scanner.peek() == '['; ++depth) {
    scanner.open('[');
    if (!scanner.next_element()) return !scanner.failed();  // no spans at all
  }
  if (scanner.peek() != '{') return false;
  std::string_view object = beginning.substr(scanner.position());
  std::size_t inside = 0;
  Shape shape = Shape::other;
  while ((shape = shape_of(object, inside)) == Shape::wrapped) object.remove_prefix(inside);
  return shape != Shape::other;
}

bool read_document(Reader& reader, json::Parser& parser, simdjson::padded_string_view padded,
                   bool& known) {
  ondemand::document document;
  ondemand::json_type type{};
  if (!parser.begin(padded, document)) return false;
  if (document.type().get(type) != simdjson::SUCCESS) return false;
  if (type == ondemand::json_type::array || type == ondemand::json_type::object) {
    value all;
    if (document.get_value().get(all) != simdjson::SUCCESS || !read_element(reader, all, known))
      return false;
  }
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

}  // namespace entrain::spans
