// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/reader.hpp"

namespace entrain::spans {
namespace {

/// Appends the strings of a list, as OTLP writes lists.
bool read_strings(value list, std::string& text) {
  return each_member(list, [&](std::string_view, value values) {
    return each_element(values, [&](value item) {
      return each_member(item, [&](std::string_view type, value plain) {
        std::string_view one;
        if (is_named(type, "stringValue") && !read_string(plain, one)) return false;
        text += one;
        text += '\n';
        return true;
      });
    });
  });
}

bool read_otlp_link(value from, FarSpan& link) {
  return each_member(from, [&](std::string_view key, value inner) {
    if (is_named(key, "traceId")) return read_id(inner, k_trace_digits, link.trace);
    return !is_named(key, "spanId") || read_id(inner, k_span_digits, link.id);
  });
}

bool read_otlp_span(Reader& reader, value from) {
  Draft& draft = reader.draft.begin_span(Mark::Form::otlp);
  draft.self = from.raw_json_token();
  const bool whole = each_member(from, [&](std::string_view key, value inner) {
    if (is_named(key, "traceId")) return read_id(inner, k_trace_digits, draft.trace);
    if (is_named(key, "spanId")) return read_id(inner, k_span_digits, draft.id);
    if (is_named(key, "parentSpanId")) return read_id(inner, k_span_digits, draft.parent);
    if (key == "name") return read_string(inner, draft.name);
    if (is_named(key, "startTimeUnixNano")) return draft.begin = number_of(inner), true;
    if (is_named(key, "endTimeUnixNano")) return draft.end = number_of(inner), true;
    if (key == "kind") {
      if (is_a(inner, ondemand::json_type::string)) return draft.read_kind(inner);
      draft.role = role_of_number(number_of(inner).value);
      return true;
    }
    if (key == "attributes") {
      draft.note_attributes(inner, ondemand::json_type::array);
      return each_element(
          inner, [&](value item) { return read_attribute(reader, item, draft.place, &draft); });
    }
    if (key == "links") {
      return each_element(
          inner, [&](value link) { return read_otlp_link(link, draft.links.emplace_back()); });
    }
    if (key != "events") return true;
    return each_element(inner, [&](value event) {
      return each_member(event, [&](std::string_view name, value time) {
        if (is_named(name, "timeUnixNano")) draft.instants.push_back(number_of(time));
        return true;
      });
    });
  });
  reader.finish(k_ns, false, reader.owner_of_draft());
  return whole && reader.has_memory();
}

}  // namespace

bool read_attribute(Reader& reader, value from, Place& place, Draft* span) {
  std::string_view key, text;
  std::string& list = reader.list_text;
  const bool whole = each_member(from, [&](std::string_view name, value inner) {
    if (name == "key") return read_string(inner, key);
    if (name != "value") return true;
    if (is_a(inner, ondemand::json_type::string)) return read_string(inner, text);  // Jaeger
    return each_member(inner, [&](std::string_view type, value plain) {
      if (is_named(type, "stringValue")) return read_string(plain, text);
      if (!is_named(type, "arrayValue")) return true;
      if (text.data() != list.data()) list = text;
      const bool good = read_strings(plain, list);
      text = list;
      return good;
    });
  });
  if (whole) take_attribute(key, text, place, span);
  return whole;
}

bool read_otlp(Reader& reader, value resource_spans) {
  return each_element(resource_spans, [&](value from) {
    Place place;
    const Reader::State before = reader.state();
    const bool whole = each_member(from, [&](std::string_view key, value inner) {
      if (key == "resource") {
        return each_member(inner, [&](std::string_view name, value list) {
          if (name != "attributes") return true;
          return each_element(list,
                              [&](value item) { return read_attribute(reader, item, place); });
        });
      }
      if (!is_named(key, "scopeSpans") && !is_named(key, "instrumentationLibrarySpans"))
        return true;
      return each_element(inner, [&](value scope) {
        return each_member(scope, [&](std::string_view name, value list) {
          if (name != "spans") return true;
          return each_element(list, [&](value span) { return read_otlp_span(reader, span); });
        });
      });
    });
    reader.settle(before, [&](const std::string&) { return place; });
    return whole;
  });
}

}  // namespace entrain::spans
