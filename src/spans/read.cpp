// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>
#include <simdjson.h>

#include "base/try.hpp"
#include "json/scanner.hpp"
#include "spans/shape.hpp"
#include "spans/spans.hpp"

namespace entrain::spans {
namespace {

namespace ondemand = simdjson::ondemand;
using ondemand::value;

/// Later times, of 2116 and after, are no dates: a correction would have no room to move them.
constexpr std::uint64_t k_limit = std::uint64_t{1} << 62;
constexpr std::uint32_t k_ns = 1, k_us = 1000;

bool is_a(value& from, ondemand::json_type type) {
  ondemand::json_type found{};
  return from.type().get(found) == simdjson::SUCCESS && found == type;
}

/// Shows all members of an object; what is no object has none. False for damaged JSON.
template <class Visit>
bool each_member(value from, Visit visit) {
  ondemand::object object;
  if (!is_a(from, ondemand::json_type::object)) return true;
  if (from.get_object().get(object) != simdjson::SUCCESS) return false;
  for (auto field : object) {
    std::string_view key;
    value inner;
    if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
    if (field.value().get(inner) != simdjson::SUCCESS || !visit(key, inner)) return false;
  }
  return true;
}

/// Shows all elements of an array; what is no array has none. False for damaged JSON.
template <class Visit>
bool each_element(value from, Visit visit) {
  ondemand::array array;
  if (!is_a(from, ondemand::json_type::array)) return true;
  if (from.get_array().get(array) != simdjson::SUCCESS) return false;
  for (auto element : array) {
    value inner;
    if (element.get(inner) != simdjson::SUCCESS || !visit(inner)) return false;
  }
  return true;
}

/// A string without escapes; empty for others. False for damaged JSON.
bool read_string(value from, std::string& text) {
  text.clear();
  std::string_view view;
  if (!is_a(from, ondemand::json_type::string)) return true;
  if (from.get_string().get(view) != simdjson::SUCCESS) return false;
  text = view;
  return true;
}

/// Numbers and strings of digits alike, with their place in the text.
struct Number {
  std::string_view digits;  ///< in the text; empty: not there, or no whole number; `value` is 0
  std::uint64_t value = 0;
};

Number number_of(value from) {
  std::string_view token = from.raw_json_token();
  if (token.starts_with('"')) {
    token = token.substr(1, token.find('"', 1) - 1);
  } else {
    token = token.substr(0, token.find_first_not_of("+-.0123456789eE"));
  }
  Number number;
  const char* const end = token.data() + token.size();
  const auto [at, error] = std::from_chars(token.data(), end, number.value);
  if (error != std::errc() || at != end) return {};
  number.digits = token;
  return number;
}

/// What a service says about where it runs, the surest first.
struct Place {
  std::string host, pod, instance, service;

  /// The member that a key of attributes is about; null for others.
  std::string* member(std::string_view key) {
    if (key == "host.name" || key == "hostname") return &host;
    if (key == "k8s.node.name") return host.empty() ? &host : nullptr;
    if (key == "k8s.pod.name") return &pod;
    if (key == "service.instance.id") return &instance;
    if (key == "ip" || key == "ipv4" || key == "ipv6") {
      return instance.empty() ? &instance : nullptr;
    }
    return key == "service.name" || key == "serviceName" ? &service : nullptr;
  }
  /// Addresses of containers are the same on many hosts, but seldom of one service.
  [[nodiscard]] std::string clock() const {
    if (!host.empty()) return host;
    if (!pod.empty()) return pod;
    if (!instance.empty()) return service.empty() ? instance : service + "@" + instance;
    return service.empty() ? "unknown" : service;
  }
};

/// True if an attribute says that a span waits for messages, and got those that it links to.
bool says_polls(std::string_view key, std::string_view text) {
  if (key != "messaging.operation" && key != "messaging.operation.type") return false;
  return text == "receive" || text == "poll";
}

constexpr std::string_view k_mark = "entrain.offset_ns";

/// Some write the ids of 64 bits with zeros before them. Protobuf's own JSON has base64 instead of
/// hexadecimal digits, where all bits are 0 if all letters are A.
std::string_view significant(std::string_view id) {
  if (id.ends_with('=')) return id.find_first_not_of("A=") == std::string_view::npos ? "" : id;
  id.remove_prefix(std::min(id.find_first_not_of('0'), id.size()));
  return id;
}

/// Appends an id as it is compared: hexadecimal digits may have either case.
void append_id(std::string_view id, std::string& text) {
  id = significant(id);
  const bool is_hex = id.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
  for (const char c : id) {
    text += is_hex && c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  }
}

/// Digits of half a trace's 128 bits.
constexpr std::size_t k_half = 16;

/// True if this is more than half of a trace's bits, as it is compared.
bool is_whole_trace(std::string_view id) {
  return id.size() > k_half && id.size() <= 2 * k_half &&
         id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}
/// The lower 64 bits, which is all that some services keep.
std::string_view half_of(std::string_view id) { return significant(id.substr(id.size() - k_half)); }

bool same_trace(std::string_view a, std::string_view b) {
  std::string one, other;
  append_id(a, one);
  append_id(b, other);
  return one == other || (is_whole_trace(one) && half_of(one) == other) ||
         (is_whole_trace(other) && half_of(other) == one);
}

Role role_of(std::string_view word) {
  std::string lower(word);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (lower.starts_with("span_kind_")) lower.erase(0, 10);
  constexpr std::array<std::pair<std::string_view, Role>, 8> k_words{
      {{"client", Role::client},
       {"server", Role::server},
       {"producer", Role::producer},
       {"consumer", Role::consumer},
       {"2", Role::server},  // the numbers of OTLP
       {"3", Role::client},
       {"4", Role::producer},
       {"5", Role::consumer}}};
  for (const auto& [known, role] : k_words) {
    if (lower == known) return role;
  }
  return Role::internal;
}

/// A span while it is read; keys come in any order.
struct Draft {
  std::string trace, id, parent, name, process;
  Role role = Role::internal;
  bool shared = false, polls = false;
  Number begin, end;                                       ///< `end`: a time or a length of time
  std::vector<Number> instants;                            ///< of events inside
  std::vector<std::pair<std::string, std::string>> links;  ///< trace and span
  Place place;
  Mark::Form form = Mark::Form::otlp;
  std::string_view self, attributes;  ///< from their opening brackets on; empty: not there
  bool marked = false;                ///< it has the attribute already, or none can be added
};

/// Before the numbers that Jaeger gives processes, where they stand for clocks.
constexpr std::string_view k_before_numbers = "\1";
const std::string k_number_of_process(k_before_numbers);

/// What Jaeger says of a span that came before.
struct Reference {
  std::string type, trace, id;
};

class Reader {
 public:
  Reader(std::string_view text, Spans& spans, std::vector<Stamp>& stamps, std::vector<Mark>* marks)
      : text_(text), spans_(spans), stamps_(stamps), marks_(marks) {}

  /// False for damaged JSON; `known` tells if it was one of the formats.
  bool document(ondemand::parser& parser, simdjson::padded_string_view padded, bool& known);
  /// True if there were spans of Zipkin's version 1, where hosts stand in annotations.
  [[nodiscard]] bool met_old_zipkin() const { return old_zipkin_; }

 private:
  bool member(std::string_view key, value inner, bool& known, int depth);
  bool attribute(value from, Place& place, Draft* span = nullptr);
  bool otlp(value resource_spans);
  bool otlp_span(value from);
  bool otlp_link(value from, Draft& draft);
  bool jaeger(value data);
  bool jaeger_trace(value trace);
  bool jaeger_process(value from, Place& place);
  bool jaeger_span(value from);
  bool jaeger_tag(value from, Draft& draft);
  static bool jaeger_reference(value from, std::vector<Reference>& references);
  static void take_references(const std::vector<Reference>& references, Draft& draft);
  bool element(value from, bool& known, int depth = 0);
  bool zipkin_span(value from);
  /// Adds the span; the clock of its stamps is known later if `clock` is k_none.
  void finish(const Draft& draft, std::uint32_t unit, bool has_length, std::uint32_t clock);
  void stamp(const Number& number, std::uint32_t unit, std::uint32_t clock);
  std::uint32_t id_of(std::string_view trace, std::string_view id);
  /// Notes where the attributes of a span begin.
  static void note_attributes(value from, ondemand::json_type type, Draft& draft);
  void mark(const Draft& draft, std::uint64_t begin, std::uint32_t clock);

  std::string_view text_;
  Spans& spans_;
  std::vector<Stamp>& stamps_;
  std::vector<Mark>* marks_;
  std::string id_;  ///< room for id_of()
  bool old_zipkin_ = false;
};

void Reader::note_attributes(value from, ondemand::json_type type, Draft& draft) {
  if (is_a(from, type)) {
    draft.attributes = from.raw_json_token();
  } else {
    draft.marked = true;
  }
}

void Reader::mark(const Draft& draft, std::uint64_t begin, std::uint32_t clock) {
  if (marks_ == nullptr || draft.marked) return;
  const bool in_list = !draft.attributes.empty();
  const std::string_view& bracket = in_list ? draft.attributes : draft.self;
  const std::size_t at = static_cast<std::size_t>(bracket.data() - text_.data()) + 1;
  const std::size_t next = text_.find_first_not_of(" \t\r\n", at);
  marks_->push_back({.at = at,
                     .clock = clock,
                     .time = begin,
                     .form = draft.form,
                     .in_list = in_list,
                     .alone = next < text_.size() && (text_[next] == ']' || text_[next] == '}')});
}

std::uint32_t Reader::id_of(std::string_view trace, std::string_view id) {
  id_.clear();
  append_id(trace, id_);
  id_ += '/';
  append_id(id, id_);
  return spans_.ids.number(id_);
}

void Reader::stamp(const Number& number, std::uint32_t unit, std::uint32_t clock) {
  if (number.digits.empty() || number.value == 0 || number.value >= k_limit / unit) return;
  stamps_.push_back({.at = static_cast<std::uint64_t>(number.digits.data() - text_.data()),
                     .size = static_cast<std::uint32_t>(number.digits.size()),
                     .clock = clock,
                     .time = number.value * unit,
                     .since = k_no_length,
                     .unit = unit});
}

void Reader::finish(const Draft& draft, std::uint32_t unit, bool has_length, std::uint32_t clock) {
  for (const Number& instant : draft.instants) stamp(instant, unit, clock);
  if (significant(draft.id).empty() || significant(draft.trace).empty()) {
    ++spans_.without_id;
    return;
  }
  const std::uint64_t most = (k_limit - 1) / unit;
  const bool bad_end = draft.end.value > most || (draft.end.digits.empty() && !has_length);
  if (draft.begin.digits.empty() || draft.begin.value == 0 || draft.begin.value > most || bad_end ||
      (has_length && draft.end.value > most - draft.begin.value)) {
    ++spans_.without_time;
    return;
  }
  const std::uint64_t begin = draft.begin.value * unit;
  const std::uint64_t end = draft.end.value * unit + (has_length ? begin : 0);
  stamp(draft.begin, unit, clock);
  if (!has_length) {
    stamp(draft.end, unit, clock);
  } else if (!draft.end.digits.empty()) {
    Number length = draft.end;
    length.value += draft.begin.value;
    stamp(length, unit, clock);
    stamps_.back().since = begin;
  }
  if (end < begin) {
    ++spans_.backwards;
    return;
  }
  const std::size_t position = spans_.all.size();
  const bool has_parent = !significant(draft.parent).empty();
  spans_.all.push_back({.id = id_of(draft.trace, draft.id),
                        .parent = has_parent ? id_of(draft.trace, draft.parent) : k_none,
                        .clock = clock,
                        .operation = spans_.operations.number(draft.name),
                        .role = draft.role,
                        .shared = draft.shared,
                        .polls = draft.polls,
                        .begin = begin,
                        .end = end});
  for (const auto& [trace, id] : draft.links) {
    if (!significant(id).empty()) spans_.links.push_back({id_of(trace, id), position});
  }
  if (unit == k_us) spans_.microseconds = true;
  mark(draft, begin, clock);
}

// ---- OTLP

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

bool Reader::otlp_link(value from, Draft& draft) {
  auto& link = draft.links.emplace_back();  // of trace and span
  return each_member(from, [&](std::string_view key, value inner) {
    if (is_named(key, "traceId")) return read_string(inner, link.first);
    return !is_named(key, "spanId") || read_string(inner, link.second);
  });
}

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
  return whole;
}

// ---- Jaeger

bool Reader::jaeger_tag(value from, Draft& draft) {
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

bool Reader::jaeger_reference(value from, std::vector<Reference>& references) {
  Reference& found = references.emplace_back();
  return each_member(from, [&](std::string_view key, value inner) {
    if (key == "refType") return read_string(inner, found.type);
    if (key == "traceID") return read_string(inner, found.trace);
    return key != "spanID" || read_string(inner, found.id);
  });
}

/// The first CHILD_OF in the span's own trace is the parent; others are links.
void Reader::take_references(const std::vector<Reference>& references, Draft& draft) {
  for (const Reference& one : references) {
    const bool is_own = one.trace.empty() || same_trace(one.trace, draft.trace);
    if (one.type == "CHILD_OF" && is_own && draft.parent.empty()) {
      draft.parent = one.id;
    } else {
      draft.links.emplace_back(one.trace, one.id);
    }
  }
}

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
  // Processes may stand behind the spans: until then their number stands for the clock.
  finish(draft, k_us, true,
         spans_.clocks.number(draft.process.empty() ? draft.place.clock()
                                                    : k_number_of_process + draft.process));
  return whole;
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
    clock = spans_.clocks.number(known == hosts.end() ? "unknown" : known->second);
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

// ---- Zipkin

bool Reader::zipkin_span(value from) {
  Draft draft;
  draft.form = Mark::Form::zipkin;
  draft.self = from.raw_json_token();
  const bool whole = each_member(from, [&](std::string_view key, value inner) {
    if (key == "traceId") return read_string(inner, draft.trace);
    if (key == "id") return read_string(inner, draft.id);
    if (key == "parentId") return read_string(inner, draft.parent);
    if (key == "name") return read_string(inner, draft.name);
    if (key == "timestamp") return draft.begin = number_of(inner), true;
    old_zipkin_ = old_zipkin_ || key == "binaryAnnotations";
    if (key == "duration") return draft.end = number_of(inner), true;
    if (key == "shared") {
      draft.shared =
          is_a(inner, ondemand::json_type::boolean) && inner.raw_json_token().starts_with("true");
      return true;
    }
    if (key == "kind") {
      std::string word;
      const bool good = read_string(inner, word);
      draft.role = role_of(word);
      return good;
    }
    if (key == "localEndpoint" || key == "tags") {
      if (key == "tags") note_attributes(inner, ondemand::json_type::object, draft);
      return each_member(inner, [&](std::string_view name, value item) {
        std::string* const member = draft.place.member(name);
        if (member != nullptr) return read_string(item, *member);
        std::string text;
        const bool good = read_string(item, text);
        draft.polls = draft.polls || says_polls(name, text);
        draft.marked = draft.marked || name == k_mark;
        return good;
      });
    }
    if (key != "annotations") return true;
    return each_element(inner, [&](value annotation) {
      return each_member(annotation, [&](std::string_view name, value time) {
        if (name == "timestamp") draft.instants.push_back(number_of(time));
        old_zipkin_ = old_zipkin_ || name == "endpoint";
        return true;
      });
    });
  });
  finish(draft, k_us, true, spans_.clocks.number(draft.place.clock()));
  return whole;
}

/// An element of a list, or a whole document. Traces of Zipkin are lists of spans.
bool Reader::element(value from, bool& known, int depth) {
  constexpr int k_most_depth = 4;
  if (depth > k_most_depth) return true;
  if (!is_a(from, ondemand::json_type::object)) {
    const bool is_list = is_a(from, ondemand::json_type::array);
    known = known || is_list;
    return !is_list ||
           each_element(from, [&](value inner) { return element(inner, known, depth + 1); });
  }
  const std::string_view object = from.raw_json_token();
  const Shape shape =
      shape_of(text_.substr(static_cast<std::size_t>(object.data() - text_.data())));
  known = known || (shape != Shape::other && shape != Shape::wrapped);
  switch (shape) {
    case Shape::zipkin_span:
      return zipkin_span(from);
    case Shape::jaeger_span:
      return jaeger_span(from);
    case Shape::jaeger_trace:
      return jaeger_trace(from);
    case Shape::wrapped:
    case Shape::list:
      return each_member(from, [&](std::string_view key, value inner) {
        return member(key, inner, known, depth + 1);
      });
    case Shape::other:
      break;
  }
  return each_member(from, [](std::string_view, value) { return true; });
}

/// A member of a document. Other signals than spans may stand in the same files.
bool Reader::member(std::string_view key, value inner, bool& known, int depth) {
  const bool is_otlp = is_named(key, "resourceSpans") || key == "batches";
  const bool is_other = is_named(key, "resourceMetrics") || is_named(key, "resourceLogs");
  known = known || is_otlp || is_other || key == "data";
  if (is_otlp) return otlp(inner);
  if (key == "data") return jaeger(inner);
  return !is_wrapper(key) || element(inner, known, depth);
}

bool Reader::document(ondemand::parser& parser, simdjson::padded_string_view padded, bool& known) {
  ondemand::document document;
  ondemand::json_type type{};
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return false;
  if (document.type().get(type) != simdjson::SUCCESS) return false;
  if (type == ondemand::json_type::array || type == ondemand::json_type::object) {
    value all;
    if (document.get_value().get(all) != simdjson::SUCCESS || !element(all, known)) return false;
  }
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

/// Documents of a text: all of it, or one per line, or one behind the other.
class Documents {
 public:
  explicit Documents(std::string_view text) : text_(text) {
    if (text_.starts_with(json::k_byte_order_mark)) at_ = json::k_byte_order_mark.size();
    at_ = std::min(text_.find_first_not_of(k_blanks, at_), text_.size());
    kind_ = is_lines() ? Kind::lines : Kind::one;
  }

  /// The next one, and where it begins; false behind the last one.
  bool next(std::string_view& document) {
    begin_ = at_;
    if (begin_ == text_.size()) return false;
    std::size_t end = text_.size();
    if (kind_ == Kind::lines) end = std::min(text_.find('\n', begin_), end);
    if (kind_ == Kind::one_by_one) end = end_of_value();
    ++number_;
    document = text_.substr(begin_, end - begin_);
    reaches_end_ = end == text_.size();
    at_ = std::min(text_.find_first_not_of(k_blanks, end), text_.size());
    return true;
  }
  [[nodiscard]] std::size_t begin() const { return begin_; }
  [[nodiscard]] bool none() const { return number_ == 0; }
  /// True if the text ends with the present one, behind others: it may have been cut off.
  [[nodiscard]] bool may_be_cut() const {
    return kind_ != Kind::one && reaches_end_ && number_ > 1;
  }
  /// Begins anew with the first object, if the whole text was taken for one document. False if no
  /// other one begins behind it.
  bool split() {
    if (kind_ != Kind::one || text_[begin_] != '{') return false;
    at_ = begin_;
    const std::size_t end = end_of_value();
    const std::size_t next = text_.find_first_not_of(k_blanks, end);
    if (next == std::string_view::npos || text_[next] != '{') return false;
    kind_ = Kind::one_by_one;
    at_ = begin_;
    number_ = 0;
    return true;
  }
  /// Where the present one is, for messages.
  [[nodiscard]] std::string place(const std::string& name) const {
    switch (kind_) {
      case Kind::lines: {
        const std::string_view before = text_.substr(0, begin_);
        return fmt::format("{}:{}", name, 1 + std::count(before.begin(), before.end(), '\n'));
      }
      case Kind::one_by_one:
        return fmt::format("{}, document {}", name, number_);
      case Kind::one:
        return name;
    }
    return name;
  }

 private:
  enum class Kind : std::uint8_t { one, lines, one_by_one };
  static constexpr std::string_view k_blanks = " \t\r\n";

  /// True if the first line is an object or a list, and another one of these follows.
  [[nodiscard]] bool is_lines() const {
    const std::size_t line = text_.find('\n', at_);
    if (line == std::string_view::npos) return false;
    const char open = text_[at_];
    if (open != '{' && open != '[') return false;
    const std::size_t last = text_.substr(0, line).find_last_not_of(k_blanks);
    const std::size_t next = text_.find_first_not_of(k_blanks, line);
    return text_[last] == (open == '{' ? '}' : ']') && next != std::string_view::npos &&
           text_[next] == open;
  }
  [[nodiscard]] std::size_t end_of_value() const {
    const std::string_view rest = text_.substr(at_);
    json::Scanner scanner(rest);
    std::string_view value;
    return scanner.value(value) ? at_ + scanner.position() : text_.size();
  }

  std::string_view text_;
  std::size_t at_ = 0, begin_ = 0, number_ = 0;
  Kind kind_ = Kind::one;
  bool reaches_end_ = false;
};

/// How much is known before a document is read; takes back what a damaged one added.
class Rollback {
 public:
  Rollback(Spans& spans, std::vector<Stamp>& stamps, std::vector<Mark>* marks)
      : spans_(spans),
        stamps_(stamps),
        marks_(marks),
        all_(spans.all.size()),
        stamp_count_(stamps.size()),
        mark_count_(marks == nullptr ? 0 : marks->size()),
        without_time_(spans.without_time),
        without_id_(spans.without_id),
        backwards_(spans.backwards) {}

  void back() {
    spans_.all.resize(all_);
    stamps_.resize(stamp_count_);
    if (marks_ != nullptr) marks_->resize(mark_count_);
    std::erase_if(spans_.links, [&](const Link& link) { return link.span >= all_; });
    spans_.without_time = without_time_;
    spans_.without_id = without_id_;
    spans_.backwards = backwards_;
  }

 private:
  Spans& spans_;
  std::vector<Stamp>& stamps_;
  std::vector<Mark>* marks_;
  std::size_t all_, stamp_count_, mark_count_;
  std::uint64_t without_time_, without_id_, backwards_;
};

}  // namespace

Result<void> read(std::string& text, const std::string& name, Spans& spans,
                  std::vector<Stamp>& stamps, std::vector<Mark>* marks) {
  constexpr std::size_t k_room = simdjson::SIMDJSON_PADDING;
  text.reserve(text.size() + k_room);
  Reader reader(text, spans, stamps, marks);
  ondemand::parser parser;
  bool any_known = false;
  const std::size_t first_stamp = stamps.size();
  Documents documents(text);
  for (std::string_view own; documents.next(own);) {
    if (own.size() >= simdjson::SIMDJSON_MAXSIZE_BYTES) {
      return fail(ErrorKind::input, fmt::format("{}: this document has 4 GiB or more; split it",
                                                documents.place(name)));
    }
    const simdjson::padded_string_view part(own.data(), own.size(),
                                            text.capacity() - documents.begin());
    Rollback rollback(spans, stamps, marks);
    bool known = false;
    if (!reader.document(parser, part, known)) {
      const bool cut = documents.may_be_cut();
      if (cut || documents.split()) {
        rollback.back();
        spans.cut_files += cut ? 1 : 0;
        continue;
      }
      return fail(ErrorKind::input, fmt::format("{}: this is damaged JSON, or it was cut off",
                                                documents.place(name)));
    }
    any_known = any_known || known;
  }
  if (documents.none()) {
    return fail(ErrorKind::input, fmt::format("{}: this is damaged JSON: it is empty", name));
  }
  if (reader.met_old_zipkin()) {
    return fail(
        ErrorKind::input,
        fmt::format("{}: these are spans of Zipkin's version 1; get them in version 2, from "
                    "/api/v2/traces",
                    name));
  }
  if (!any_known) {
    return fail(ErrorKind::input, fmt::format("{}: these are no spans as OTLP, Jaeger or Zipkin "
                                              "write them (resourceSpans, data or an array)",
                                              name));
  }
  std::sort(stamps.begin() + static_cast<std::ptrdiff_t>(first_stamp), stamps.end(),
            [](const Stamp& a, const Stamp& b) { return a.at < b.at; });
  if (marks != nullptr) {
    std::sort(marks->begin(), marks->end(),
              [](const Mark& a, const Mark& b) { return a.at < b.at; });
  }
  return {};
}

void join_halved_traces(Spans& spans) {
  const std::span<const std::string> names = spans.ids.all();
  const auto trace_of = [](std::string_view name) { return name.substr(0, name.find('/')); };
  std::unordered_map<std::string_view, std::uint32_t> halves;
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    if (!is_whole_trace(trace_of(names[id]))) halves.emplace(names[id], id);
  }
  if (halves.empty() || halves.size() == names.size()) return;
  std::vector<std::uint32_t> whole_of(names.size(), k_none);  // by half: the whole one, or itself
  for (std::uint32_t id = 0; id < names.size(); ++id) {
    const std::string_view trace = trace_of(names[id]);
    if (!is_whole_trace(trace)) continue;
    std::string name(half_of(trace));
    name += names[id].substr(trace.size());
    const auto half = halves.find(name);
    if (half == halves.end()) continue;
    std::uint32_t& whole = whole_of[half->second];
    whole = whole == k_none ? id : half->second;
  }
  const auto join = [&](std::uint32_t& id) {
    if (id != k_none && whole_of[id] != k_none) id = whole_of[id];
  };
  for (Span& span : spans.all) {
    join(span.id);
    join(span.parent);
  }
  for (Link& link : spans.links) join(link.id);
}

}  // namespace entrain::spans
