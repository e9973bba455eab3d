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
#include "spans/spans.hpp"

namespace entrain::spans {
namespace {

namespace ondemand = simdjson::ondemand;
using ondemand::value;

constexpr std::uint64_t k_limit = std::uint64_t{1} << 63;
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

bool same_id(std::string_view a, std::string_view b) {
  std::string one, other;
  append_id(a, one);
  append_id(b, other);
  return one == other;
}

/// True if a key is this name of OTLP, or the one that Protobuf has for it: start_time instead of
/// startTime.
bool is_named(std::string_view key, std::string_view name) {
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

 private:
  bool member(std::string_view key, value inner, bool& known);
  bool attribute(value from, Place& place, Draft* span = nullptr);
  bool otlp(value resource_spans);
  bool otlp_span(value from);
  bool otlp_link(value from, Draft& draft);
  bool jaeger(value data);
  bool jaeger_span(value from);
  bool jaeger_tag(value from, Draft& draft);
  static bool jaeger_reference(value from, std::vector<Reference>& references);
  static void take_references(const std::vector<Reference>& references, Draft& draft);
  bool zipkin(value element);
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
    const bool is_own = one.trace.empty() || same_id(one.trace, draft.trace);
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
  finish(draft, k_us, true, spans_.clocks.number("\1" + draft.process));
  return whole;
}

bool Reader::jaeger(value data) {
  return each_element(data, [&](value trace) {
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
        const std::string number(process);
        const bool good = each_member(about, [&](std::string_view name, value item) {
          if (name == "serviceName") return read_string(item, place.service);
          if (name != "tags") return true;
          return each_element(item, [&](value tag) { return attribute(tag, place); });
        });
        hosts["\1" + number] = place.clock();
        return good;
      });
    });
    const auto resolve = [&](std::uint32_t& clock) {
      const auto known = hosts.find(spans_.clocks.all()[clock]);
      clock = spans_.clocks.number(known == hosts.end() ? "unknown" : known->second);
    };
    for (std::size_t i = first_span; i < spans_.all.size(); ++i) resolve(spans_.all[i].clock);
    for (std::size_t i = first_stamp; i < stamps_.size(); ++i) resolve(stamps_[i].clock);
    for (std::size_t i = first_mark; marks_ != nullptr && i < marks_->size(); ++i) {
      resolve((*marks_)[i].clock);
    }
    return whole;
  });
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
        return true;
      });
    });
  });
  finish(draft, k_us, true, spans_.clocks.number(draft.place.clock()));
  return whole;
}

/// Traces are arrays of spans; a file is one of them, or an array of several.
bool Reader::zipkin(value element) {
  if (is_a(element, ondemand::json_type::object)) return zipkin_span(element);
  return each_element(element, [&](value span) { return zipkin_span(span); });
}

/// A member of a document. Other signals than spans may stand in the same files.
bool Reader::member(std::string_view key, value inner, bool& known) {
  const bool is_otlp = is_named(key, "resourceSpans") || key == "batches";
  const bool is_other = is_named(key, "resourceMetrics") || is_named(key, "resourceLogs");
  known = known || is_otlp || is_other || key == "data";
  if (is_otlp) return otlp(inner);
  if (key == "data") return jaeger(inner);
  if (key != "trace" && key != "result") return true;
  return each_member(inner, [&](std::string_view name, value wrapped) {
    return name == key || member(name, wrapped, known);
  });
}

bool Reader::document(ondemand::parser& parser, simdjson::padded_string_view padded, bool& known) {
  ondemand::document document;
  ondemand::json_type type{};
  if (parser.iterate(padded).get(document) != simdjson::SUCCESS) return false;
  if (document.type().get(type) != simdjson::SUCCESS) return false;
  known = type == ondemand::json_type::array;
  if (type == ondemand::json_type::array) {
    ondemand::array array;
    if (document.get_array().get(array) != simdjson::SUCCESS) return false;
    for (auto element : array) {
      value inner;
      if (element.get(inner) != simdjson::SUCCESS || !zipkin(inner)) return false;
    }
  } else if (type == ondemand::json_type::object) {
    ondemand::object object;
    if (document.get_object().get(object) != simdjson::SUCCESS) return false;
    for (auto field : object) {
      std::string_view key;
      value inner;
      if (field.unescaped_key().get(key) != simdjson::SUCCESS) return false;
      if (field.value().get(inner) != simdjson::SUCCESS) return false;
      if (!member(key, inner, known)) return false;
    }
  }
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

/// True if every line from `first` on is a document: the first one is an object, and another one
/// follows.
bool is_lines(std::string_view text, std::size_t first) {
  const std::size_t line = text.find('\n', first);
  if (line == std::string_view::npos || text[first] != '{') return false;
  const std::size_t last = text.substr(0, line).find_last_not_of(" \t\r\n");
  const std::size_t next = text.find_first_not_of(" \t\r\n", line);
  return text[last] == '}' && next != std::string_view::npos && text[next] == '{';
}

}  // namespace

Result<void> read(std::string& text, const std::string& name, Spans& spans,
                  std::vector<Stamp>& stamps, std::vector<Mark>* marks) {
  constexpr std::size_t k_room = simdjson::SIMDJSON_PADDING;
  text.reserve(text.size() + k_room);
  const std::size_t first =
      text.starts_with(json::k_byte_order_mark) ? json::k_byte_order_mark.size() : 0;
  const bool lines = is_lines(text, first);
  Reader reader(text, spans, stamps, marks);
  ondemand::parser parser;
  bool any_known = false;
  const std::size_t first_stamp = stamps.size();
  for (std::size_t at = first, line = 1; at < text.size() || line == 1; ++line) {
    const std::size_t end = lines ? std::min(text.find('\n', at), text.size()) : text.size();
    const std::string_view own = std::string_view(text).substr(at, end - at);
    const bool blank = own.find_first_not_of(" \t\r") == std::string_view::npos;
    const std::string where = lines ? fmt::format("{}:{}", name, line) : name;
    if (own.size() >= simdjson::SIMDJSON_MAXSIZE_BYTES) {
      return fail(ErrorKind::input,
                  fmt::format("{}: this document has 4 GiB or more; split it", where));
    }
    const simdjson::padded_string_view part(own.data(), own.size(), text.capacity() - at);
    const std::size_t whole_spans = spans.all.size(), whole_stamps = stamps.size();
    const std::size_t whole_marks = marks == nullptr ? 0 : marks->size();
    bool known = false;
    if ((!blank || !lines) && !reader.document(parser, part, known)) {
      if (!lines || end < text.size()) {
        return fail(ErrorKind::input,
                    fmt::format("{}: this is damaged JSON, or it was cut off", where));
      }
      ++spans.cut_files;
      spans.all.resize(whole_spans);
      stamps.resize(whole_stamps);
      if (marks != nullptr) marks->resize(whole_marks);
      std::erase_if(spans.links, [&](const Link& link) { return link.span >= whole_spans; });
    }
    any_known = any_known || known;
    at = end + 1;
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

}  // namespace entrain::spans
