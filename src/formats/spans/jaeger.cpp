// SPDX-License-Identifier: BSD-3-Clause
#include <unordered_map>

#include "formats/spans/reader.hpp"

namespace entrain::spans {
namespace {

/// Prefix of the ids of Jaeger's processes while these replace names of clocks.
constexpr std::string_view k_before_numbers = "\1";
const std::string k_number_of_process(k_before_numbers);

/// Jaeger's reference to an earlier span.
struct Reference {
  std::string type, trace, id;
};

bool jaeger_tag(value from, Draft& draft) {
  std::string key, text;
  const bool whole = each_member(from, [&](std::string_view name, value inner) {
    if (name == "key") return read_string(inner, key);
    return name != "value" || read_string(inner, text);
  });
  if (key == "span.kind") draft.role = role_of(text);
  draft.polls = draft.polls || says_polls(key, text);
  draft.marked = draft.marked || key == k_mark;
  return whole;
}

bool jaeger_reference(value from, std::vector<Reference>& references) {
  Reference& found = references.emplace_back();
  return each_member(from, [&](std::string_view key, value inner) {
    if (key == "refType") return read_string(inner, found.type);
    if (key == "traceID") return read_string(inner, found.trace);
    return key != "spanID" || read_string(inner, found.id);
  });
}

/// The first CHILD_OF in the span's own trace is the parent; others are links.
void take_references(const std::vector<Reference>& references, Draft& draft) {
  for (const Reference& one : references) {
    const bool is_own = one.trace.empty() || is_same_trace(one.trace, draft.trace);
    if (one.type == "CHILD_OF" && is_own && draft.parent.empty()) {
      draft.parent = one.id;
    } else {
      draft.links.emplace_back(one.trace, one.id);
    }
  }
}

}  // namespace

bool Reader::jaeger_span(value from) {
  Draft draft;
  std::vector<Reference> references;
  draft.form = Mark::Form::jaeger;
  draft.self = from.raw_json_token();
  const bool whole = each_member(from, [&](std::string_view key, value inner) {
    if (key == "traceID") return read_string(inner, draft.trace);
    if (key == "spanID") return read_string(inner, draft.id);
    if (key == "parentSpanID") return read_string(inner, draft.parent);
    if (key == "operationName") return read_string(inner, draft.name);
    if (key == "processID") return read_string(inner, draft.process);
    if (key == "process") return jaeger_process(inner, draft.place);
    if (key == "startTime") return draft.begin = number_of(inner), true;
    if (key == "startTimeMillis") return draft.millis = number_of(inner), true;
    if (key == "duration") return draft.end = number_of(inner), true;
    if (key == "references") {
      return each_element(inner, [&](value item) { return jaeger_reference(item, references); });
    }
    if (key == "tags") {
      note_attributes(inner, ondemand::json_type::array, draft);
      return each_element(inner, [&](value item) { return jaeger_tag(item, draft); });
    }
    if (key != "logs") return true;
    return each_element(inner, [&](value log) {
      return each_member(log, [&](std::string_view name, value time) {
        if (name == "timestamp") draft.instants.push_back(number_of(time));
        return true;
      });
    });
  });
  take_references(references, draft);
  // Processes may follow the spans: until then the id of the process replaces the clock.
  const std::uint32_t clock = spans_.clocks.number(
      draft.process.empty() ? draft.place.clock() : k_number_of_process + draft.process);
  stamp_millis(draft.millis, draft.begin, clock);
  finish(draft, k_us, true, clock);
  return whole && has_memory();
}

bool Reader::jaeger_process(value from, Place& place) {
  return each_member(from, [&](std::string_view key, value inner) {
    if (key == "serviceName") return read_string(inner, place.service);
    if (key != "tags") return true;
    return each_element(inner, [&](value tag) { return attribute(tag, place); });
  });
}

bool Reader::jaeger_trace(value trace) {
  std::unordered_map<std::string, std::string> hosts;
  const std::size_t first_span = spans_.all.size(), first_stamp = stamps_.size();
  const std::size_t first_mark = marks_ == nullptr ? 0 : marks_->size();
  const bool whole = each_member(trace, [&](std::string_view key, value inner) {
    if (key == "spans") {
      return each_element(inner, [&](value span) { return jaeger_span(span); });
    }
    if (key != "processes") return true;
    return each_member(inner, [&](std::string_view process, value about) {
      Place place;
      const std::string name = k_number_of_process + std::string(process);
      const bool good = jaeger_process(about, place);
      hosts[name] = place.clock();
      return good;
    });
  });
  const auto resolve = [&](std::uint32_t& clock) {
    const std::string& name = spans_.clocks.all()[clock];
    if (!name.starts_with(k_number_of_process)) return;
    const auto known = hosts.find(name);
    clock =
        spans_.clocks.number(known == hosts.end() ? std::string(k_unknown_host) : known->second);
  };
  for (std::size_t i = first_span; i < spans_.all.size(); ++i) resolve(spans_.all[i].clock);
  for (std::size_t i = first_stamp; i < stamps_.size(); ++i) resolve(stamps_[i].clock);
  for (std::size_t i = first_mark; marks_ != nullptr && i < marks_->size(); ++i) {
    resolve((*marks_)[i].clock);
  }
  return whole;
}

bool Reader::jaeger(value data) {
  return each_element(data, [&](value trace) { return jaeger_trace(trace); });
}

}  // namespace entrain::spans
