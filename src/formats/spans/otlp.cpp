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

}  // namespace

bool Reader::attribute(value from, Place& place, Draft* span) {
  std::string_view key, text;
  const bool whole = each_member(from, [&](std::string_view name, value inner) {
    if (name == "key") return read_string(inner, key);
    if (name != "value") return true;
    if (is_a(inner, ondemand::json_type::string)) return read_string(inner, text);  // Jaeger
    return each_member(inner, [&](std::string_view type, value plain) {
      if (is_named(type, "stringValue")) return read_string(plain, text);
      if (!is_named(type, "arrayValue")) return true;
      if (text.data() != list_text_.data()) list_text_ = text;
      const bool good = read_strings(plain, list_text_);
      text = list_text_;
      return good;
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
    if (std::string* const own = place.member_of_span(key)) {
      *own = shown_text(text);
      span->has_place = true;
    }
    if (key == k_warnings && says_changed(text)) span->has_place = place.is_changed = true;
    return;
  }
  if (key == "host.ip") text = address_in(text);
  std::string* const member = text.empty() ? nullptr : place.member(key);
  if (member != nullptr) *member = shown_text(text);
}

bool Reader::otlp(value resource_spans) {
  return each_element(resource_spans, [&](value from) {
    Place place;
    const State before = state();
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
    if (is_named(key, "traceId")) return read_id(inner, k_trace_digits, link.trace);
    return !is_named(key, "spanId") || read_id(inner, k_span_digits, link.id);
  });
}

}  // namespace

bool Reader::otlp_span(value from) {
  Draft& draft = draft_.begin_span(Mark::Form::otlp);
  draft.self = from.raw_json_token();
  const bool whole = each_member(from, [&](std::string_view key, value inner) {
    if (is_named(key, "traceId")) return read_id(inner, k_trace_digits, draft.trace);
    if (is_named(key, "spanId")) return read_id(inner, k_span_digits, draft.id);
    if (is_named(key, "parentSpanId")) return read_id(inner, k_span_digits, draft.parent);
    if (key == "name") return read_string(inner, draft.name);
    if (is_named(key, "startTimeUnixNano")) return draft.begin = number_of(inner), true;
    if (is_named(key, "endTimeUnixNano")) return draft.end = number_of(inner), true;
    if (key == "kind") {
      if (!is_a(inner, ondemand::json_type::string)) {
        draft.role = role_of_number(number_of(inner).value);
        return true;
      }
      std::string_view word;
      const bool good = read_string(inner, word);
      draft.role = role_of(word);
      return good;
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
