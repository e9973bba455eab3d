// SPDX-License-Identifier: BSD-3-Clause
#include <unordered_map>

#include "formats/spans/reader.hpp"

namespace entrain::spans {
namespace {

/// Jaeger's reference to an earlier span.
struct Reference {
  std::string_view type;
  Id trace, id;
};

bool read_jaeger_tag(value from, Draft& draft) {
  std::string_view key, text;
  const bool whole = each_member(from, [&](std::string_view name, value inner) {
    if (name == "key") return read_string(inner, key);
    return name != "value" || read_string(inner, text);
  });
  if (key == "span.kind") draft.role = role_of(text);
  if (std::string* const own = draft.place.member_of_span(key)) {
    *own = text;
    draft.has_place = true;
  }
  draft.see_attribute(key, text);
  return whole;
}

bool read_jaeger_reference(value from, Reference& found) {
  return each_member(from, [&](std::string_view key, value inner) {
    if (key == "refType") return read_string(inner, found.type);
    if (key == "traceID") return read_id(inner, k_trace_digits, found.trace);
    return key != "spanID" || read_id(inner, k_span_digits, found.id);
  });
}

/// True if both are ids of one trace, or one is the lower half of the other, which is all that some
/// services keep.
bool is_same_trace(const Id& a, const Id& b) {
  return a.low == b.low && a.text == b.text && (a.high == b.high || a.high == 0 || b.high == 0);
}

/// The first CHILD_OF in the span's own trace is the parent, else the first FOLLOWS_FROM; others
/// are links.
void take_references(std::vector<Reference> references, Draft& draft) {
  for (const std::string_view type : {"CHILD_OF", "FOLLOWS_FROM"}) {
    const auto first =
        std::find_if(references.begin(), references.end(), [&](const Reference& one) {
          return one.type == type && (one.trace.is_empty || is_same_trace(one.trace, draft.trace));
        });
    if (!draft.parent.is_empty || first == references.end()) continue;
    draft.parent = first->id;
    draft.follows = type == "FOLLOWS_FROM";
    references.erase(first);
  }
  for (const Reference& one : references) {
    draft.links.push_back({one.trace, one.id, one.type == "CHILD_OF"});
  }
}

bool read_jaeger_process(Reader& reader, value from, Place& place) {
  return each_member(from, [&](std::string_view key, value inner) {
    if (key == "serviceName") return read_name(inner, *place.member(key));
    if (key != "tags") return true;
    return each_element(inner, [&](value tag) { return read_attribute(reader, tag, place); });
  });
}

bool add_jaeger_span(Reader& reader, value from) {
  Draft& draft = reader.draft.begin_span(Mark::Form::jaeger);
  std::vector<Reference> references;
  draft.self = from.raw_json_token();
  const bool whole = each_member(from, [&](std::string_view key, value inner) {
    if (key == "traceID") return read_id(inner, k_trace_digits, draft.trace);
    if (key == "spanID") return read_id(inner, k_span_digits, draft.id);
    if (key == "parentSpanID") return read_id(inner, k_span_digits, draft.parent);
    if (key == "operationName") return read_string(inner, draft.name);
    if (key == "processID") return read_string(inner, draft.process);
    if (key == "process")
      return draft.has_place = true, read_jaeger_process(reader, inner, draft.place);
    if (key == "startTime") return draft.begin = number_of(inner), true;
    if (key == "startTimeMillis") return draft.millis = number_of(inner), true;
    if (key == "duration") return draft.end = number_of(inner), true;
    if (key == "references") {
      return each_element(inner, [&](value item) {
        return read_jaeger_reference(item, references.emplace_back());
      });
    }
    if (key == "tags") {
      draft.note_attributes(inner, ondemand::json_type::array);
      return each_element(inner, [&](value item) { return read_jaeger_tag(item, draft); });
    }
    if (key == "warnings") {
      return each_element(inner, [&](value item) {
        std::string_view warning;
        const bool good = read_string(item, warning);
        if (says_changed(warning)) draft.has_place = draft.place.is_changed = true;
        return good;
      });
    }
    if (key != "logs") return true;
    return each_element(inner, [&](value log) {
      return each_member(log, [&](std::string_view name, value time) {
        if (name == "timestamp") draft.instants.push_back(number_of(time));
        return true;
      });
    });
  });
  take_references(std::move(references), draft);
  const std::uint32_t clock = reader.owner_of_draft();
  reader.stamp_millis(clock);
  reader.finish(k_us, true, clock);
  return whole && reader.has_memory();
}

}  // namespace

/// Processes may follow the spans.
bool read_jaeger_trace(Reader& reader, value trace) {
  std::unordered_map<std::string, Place> places;
  const Reader::State before = reader.state();
  const bool whole = each_member(trace, [&](std::string_view key, value inner) {
    if (key == "spans") {
      return each_element(inner, [&](value span) { return add_jaeger_span(reader, span); });
    }
    if (key != "processes") return true;
    return each_member(inner, [&](std::string_view process, value about) {
      return read_jaeger_process(reader, about, places[std::string(process)]);
    });
  });
  reader.settle(before, [&](const std::string& process) { return places[process]; });
  return whole;
}

bool read_jaeger_span(Reader& reader, value span) {
  const Reader::State before = reader.state();
  const bool whole = add_jaeger_span(reader, span);
  reader.settle(before, [](const std::string&) { return Place(); });
  return whole;
}

}  // namespace entrain::spans
