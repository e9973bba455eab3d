// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/reader.hpp"
#include "formats/spans/shape.hpp"

namespace entrain::spans {

bool Reader::attribute(value from, Place& place, Draft* span) {
  std::string key, text;
  const bool whole = each_member(from, [&](std::string_view name, value inner) {
    if (name == "key") return read_string(inner, key);
    if (name != "value") return true;
    if (is_a(inner, ondemand::json_type::string)) return read_string(inner, text);  // Jaeger
    return each_member(inner, [&](std::string_view type, value plain) {
      return !is_named(type, "stringValue") || read_string(plain, text);
    });
  });
  if (span != nullptr) {
    span->polls = span->polls || says_polls(key, text);
    span->marked = span->marked || key == k_mark;
    return whole;
  }
  std::string* const member = whole ? place.member(key) : nullptr;
  if (member != nullptr && !text.empty()) *member = text;
  return whole;
}

bool Reader::otlp(value resource_spans) {
  return each_element(resource_spans, [&](value from) {
    Place place;
    const std::size_t first_span = spans_.all.size(), first_stamp = stamps_.size();
    const std::size_t first_mark = marks_ == nullptr ? 0 : marks_->size();
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
    const std::uint32_t clock = spans_.clocks.number(place.clock());
    for (std::size_t i = first_span; i < spans_.all.size(); ++i) spans_.all[i].clock = clock;
    for (std::size_t i = first_stamp; i < stamps_.size(); ++i) stamps_[i].clock = clock;
    for (std::size_t i = first_mark; marks_ != nullptr && i < marks_->size(); ++i) {
      (*marks_)[i].clock = clock;
    }
    return whole;
  });
}

namespace {

bool otlp_link(value from, Draft& draft) {
  auto& link = draft.links.emplace_back();  // of trace and span
  return each_member(from, [&](std::string_view key, value inner) {
    if (is_named(key, "traceId")) return read_string(inner, link.first);
    return !is_named(key, "spanId") || read_string(inner, link.second);
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
  finish(draft, k_ns, false, k_none);
  return whole && has_memory();
}

}  // namespace entrain::spans
