// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/reader.hpp"
#include "formats/spans/shape.hpp"

namespace entrain::spans {
namespace {

/// Appends the strings of a list, as OTLP writes lists.
bool read_strings(value list, std::string& text) {
  return each_member(list, [&](std::string_view, value values) {
    return each_element(values, [&](value item) {
      return each_member(item, [&](std::string_view type, value plain) {
        std::string one;
        if (is_named(type, "stringValue") && !read_string(plain, one)) return false;
        text += one + '\n';
        return true;
      });
    });
  });
}

}  // namespace

bool Reader::attribute(value from, Place& place, Draft* span) {
  std::string key, text;
  const bool whole = each_member(from, [&](std::string_view name, value inner) {
    if (name == "key") return read_string(inner, key);
    if (name != "value") return true;
    if (is_a(inner, ondemand::json_type::string)) return read_string(inner, text);  // Jaeger
    return each_member(inner, [&](std::string_view type, value plain) {
      if (is_named(type, "arrayValue")) return read_strings(plain, text);
      return !is_named(type, "stringValue") || read_string(plain, text);
    });
  });
  if (whole) take_attribute(key, text, place, span);
  return whole;
}

void Reader::take_attribute(std::string_view key, std::string_view text, Place& place,
                            Draft* span) {
  if (span != nullptr) {
    span->polls = span->polls || says_polls(key, text);
    span->marked = span->marked || key == k_mark;
    if (std::string* const own = place.member_of_span(key)) *own = text;
    place.is_changed = place.is_changed || (key == k_warnings && says_changed(text));
    return;
  }
  std::string* const member = text.empty() ? nullptr : place.member(key);
  if (member != nullptr) *member = text;
}

bool Reader::otlp(value resource_spans) {
  return each_element(resource_spans, [&](value from) {
    Place place;
    const Sizes before = sizes();
    const bool whole = each_member(from, [&](std::string_view key, value inner) {
      if (key == "resource") {
        return each_member(inner, [&](std::string_view name, value list) {
          if (name != "attributes") return true;
          return each_element(list, [&](value item) { return attribute(item, place); });
        });
      }
      if (!is_named(key, "scopeSpans") && !is_named(key, "instrumentationLibrarySpans"))
        return true;
      return each_element(inner, [&](value scope) {
        return each_member(scope, [&](std::string_view name, value list) {
          if (name != "spans") return true;
          return each_element(list, [&](value span) { return otlp_span(span); });
        });
      });
    });
    settle(before, [&](const std::string&) { return place; });
    return whole;
  });
}

namespace {

bool otlp_link(value from, Draft& draft) {
  FarSpan& link = draft.links.emplace_back();
  return each_member(from, [&](std::string_view key, value inner) {
    if (is_named(key, "traceId")) return read_string(inner, link.trace);
    return !is_named(key, "spanId") || read_string(inner, link.id);
  });
}

}  // namespace

bool Reader::otlp_span(value from) {
  Draft draft;
  draft.form = Mark::Form::otlp;
  draft.self = from.raw_json_token();
  const bool whole = each_member(from, [&](std::string_view key, value inner) {
    if (is_named(key, "traceId")) return read_string(inner, draft.trace);
    if (is_named(key, "spanId")) return read_string(inner, draft.id);
    if (is_named(key, "parentSpanId")) return read_string(inner, draft.parent);
    if (key == "name") return read_string(inner, draft.name);
    if (is_named(key, "startTimeUnixNano")) return draft.begin = number_of(inner), true;
    if (is_named(key, "endTimeUnixNano")) return draft.end = number_of(inner), true;
    if (key == "kind") {
      std::string word;
      if (!is_a(inner, ondemand::json_type::string)) {
        word = std::to_string(number_of(inner).value);
      } else if (!read_string(inner, word)) {
        return false;
      }
      draft.role = role_of(word);
      return true;
    }
    if (key == "attributes") {
      note_attributes(inner, ondemand::json_type::array, draft);
      return each_element(inner, [&](value item) { return attribute(item, draft.place, &draft); });
    }
    if (key == "links") {
      return each_element(inner, [&](value link) { return otlp_link(link, draft); });
    }
    if (key != "events") return true;
    return each_element(inner, [&](value event) {
      return each_member(event, [&](std::string_view name, value time) {
        if (is_named(name, "timeUnixNano")) draft.instants.push_back(number_of(time));
        return true;
      });
    });
  });
  finish(draft, k_ns, false, owner_of(draft));
  return whole && has_memory();
}

}  // namespace entrain::spans
