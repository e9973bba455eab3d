// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/reader.hpp"

#include <utility>

#include <fmt/format.h>

#include "base/memory_room.hpp"
#include "formats/json/strings.hpp"

namespace entrain::spans {
namespace {

/// Times must be below, ns since 1970 (year 2116), so that a correction can move them.
constexpr std::uint64_t k_limit = std::uint64_t{1} << 62;

}  // namespace

void Reader::restore(const State& before) {
  number_waiting();
  spans_.all.resize(before.spans);
  std::erase_if(spans_.links, [&](const Link& link) { return link.span >= before.spans; });
  spans_.untimed.resize(before.untimed);
  if (stamps_ != nullptr) stamps_->resize(before.stamps);
  if (marks_ != nullptr) marks_->resize(before.marks);
  static_cast<SpanCounts&>(spans_) = before.counts;
  seen = before.seen;
}

void Reader::note_attributes(value from, ondemand::json_type type, Draft& draft) {
  if (is_a(from, type)) {
    draft.attributes = from.raw_json_token();
  } else {
    draft.marked = true;
  }
}

void Reader::mark(const Draft& draft, std::uint64_t begin, std::uint32_t clock) {
  if (marks_ == nullptr || draft.marked) return;
  if (draft.form == Mark::Form::protobuf) {
    const char* const end = draft.self.data() + draft.self.size();
    marks_->push_back({.at = static_cast<std::uint64_t>(end - text_.data()),
                       .clock = clock,
                       .time = begin,
                       .form = draft.form});
    return;
  }
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

std::uint32_t Reader::clock_at(const Place& place) {
  const std::string group = place.clock(), part = place.part();
  const char* const state = place.is_changed ? " (times that a viewer has moved)" : "";
  const std::uint32_t number =
      spans_.clocks.number(fmt::format("{}{}{}{}", group, part.empty() ? "" : " ", part, state));
  if (number == spans_.facts.size()) {
    spans_.facts.push_back({spans_.groups.number(group), place.is_changed});
  }
  return number;
}

std::uint32_t Reader::owner_of(const Draft& draft) {
  const bool is_nameless = !draft.has_place && draft.process.empty();
  if (is_nameless && nameless_owner_ != k_none) return nameless_owner_;
  const auto is_same = [&](const auto& owner) {
    return owner.second == draft.process && owner.first == draft.place;
  };
  if (!owners_.empty() && is_same(owners_.back())) {
    return static_cast<std::uint32_t>(owners_.size() - 1);
  }
  std::string key(draft.process);
  for (const std::string& sign : draft.place.signs) key += '\n' + sign;
  key += draft.place.is_changed ? "\nchanged" : "";
  const auto next = static_cast<std::uint32_t>(owners_.size());
  const auto [known, is_new] = owner_numbers_.emplace(std::move(key), next);
  if (is_new) owners_.emplace_back(draft.place, draft.process);
  if (is_nameless) nameless_owner_ = known->second;
  return known->second;
}

void Reader::ignore(const Number& begin, std::uint32_t unit, std::uint32_t clock,
                    bool is_backwards) {
  spans_.untimed.push_back({clock, static_cast<double>(begin.value) * unit, is_backwards});
}

bool Reader::is_time(const Number& number, std::uint32_t unit) {
  return !number.digits.empty() && number.value < k_limit / unit / 2;
}

bool Reader::can_move(const Number& number, std::uint32_t unit) {
  return !number.digits.empty() && number.value > 0 && number.value < (k_limit - 1) / unit;
}

/// Counts a time that cannot be moved, for the report.
void Reader::note_immovable(const Number& number, std::uint32_t unit) {
  const bool is_large = !number.digits.empty() && number.value >= (k_limit - 1) / unit;
  if (number.invalid.empty() && !is_large) return;
  if (spans_.immovable_times++ > 0) return;
  spans_.first_immovable_time = form_ == Stamp::Form::fixed64
                                    ? std::to_string(number.value)
                                    : json::excerpt(is_large ? number.digits : number.invalid);
}

void Reader::add_stamp(const Number& number, Stamp stamp) {
  stamp.fine = number.has_decimals;
  const bool is_whole = !stamp.fine && !stamp.truncated;
  seen.fine_us |= stamp.fine && stamp.unit == k_us;
  seen.whole_us |= is_whole && stamp.unit == k_us;
  seen.whole_ms |= is_whole && stamp.unit == k_ms;
  if (stamps_ == nullptr) return;
  stamp.at = static_cast<std::uint64_t>(number.digits.data() - text_.data());
  stamp.size = static_cast<std::uint32_t>(number.digits.size());
  stamp.form = form_;
  stamps_->push_back(stamp);
}

void Reader::stamp(const Number& number, std::uint32_t unit, std::uint32_t clock) {
  note_immovable(number, unit);
  if (!can_move(number, unit)) return;
  add_stamp(number,
            {.clock = clock, .time = ns_of(number, unit), .since = k_no_length, .unit = unit});
}

void Reader::stamp_length(const Number& length, const Number& begin, std::uint32_t unit,
                          std::uint32_t clock) {
  note_immovable(length, unit);
  const std::uint64_t most = (k_limit - 1) / unit;
  if (length.digits.empty() || !can_move(begin, unit) || length.value >= most - begin.value) return;
  const std::uint64_t since = ns_of(begin, unit);
  add_stamp(length,
            {.clock = clock, .time = since + ns_of(length, unit), .since = since, .unit = unit});
}

void Reader::stamp_millis(const Number& millis, const Number& begin, std::uint32_t clock) {
  const bool is_begin =
      can_move(begin, k_us) && !millis.has_decimals && begin.value / (k_ms / k_us) == millis.value;
  if (!is_begin || !can_move(millis, k_ms)) return stamp(millis, k_ms, clock);
  add_stamp(millis, {.clock = clock,
                     .time = ns_of(begin, k_us),
                     .since = k_no_length,
                     .unit = k_us,
                     .truncated = true});
}

/// Asks the system only once per 8,192 spans, which take some megabytes.
bool Reader::has_memory() {
  constexpr std::uint64_t k_between = 8192;
  if (finished_++ % k_between == 0) memory_ = check_memory_room(name_);
  return memory_.has_value();
}

void Reader::finish(const Draft& draft, std::uint32_t unit, bool has_length, std::uint32_t clock) {
  // All times move with their host, even if the span has no id or no second time.
  for (const Number& instant : draft.instants) stamp(instant, unit, clock);
  stamp(draft.begin, unit, clock);
  if (has_length) {
    stamp_length(draft.end, draft.begin, unit, clock);
  } else {
    stamp(draft.end, unit, clock);
  }
  take(draft, unit, has_length, clock);
}

void Reader::take(const Draft& draft, std::uint32_t unit, bool has_length, std::uint32_t clock) {
  if (is_missing(draft.id) || is_missing(draft.trace)) {
    ++spans_.without_id;
    return;
  }
  const std::uint64_t most = (k_limit - 1) / unit;
  const bool has_end = !draft.end.digits.empty();
  // A span that polls says nothing without its end.
  const bool bad_end = draft.end.value >= most || (!has_end && (!has_length || draft.polls));
  if (!can_move(draft.begin, unit) || bad_end ||
      (has_length && draft.end.value >= most - draft.begin.value)) {
    return ignore(draft.begin, unit, clock);
  }
  const std::uint64_t begin = ns_of(draft.begin, unit);
  add_span(draft, begin, ns_of(draft.end, unit) + (has_length ? begin : 0), unit, clock);
  if (has_end) return;
  ++spans_.without_end;
  spans_.all.back().follows = true;
}

void Reader::add_span(const Draft& draft, std::uint64_t begin, std::uint64_t end,
                      std::uint32_t unit, std::uint32_t clock) {
  if (end < begin) {
    return ignore(draft.begin, unit, clock, true);
  }
  const std::size_t position = spans_.all.size();
  const bool has_parent = !is_missing(draft.parent);
  spans_.all.push_back({.clock = clock,
                        .operation = spans_.operations.number(draft.name),
                        .role = draft.role,
                        .shared = draft.shared,
                        .polls = draft.polls,
                        .follows = draft.follows,
                        .begin = begin,
                        .end = end});
  wait_for_number(draft.trace, draft.id, position, &Span::id);
  if (has_parent) wait_for_number(draft.trace, draft.parent, position, &Span::parent);
  if (!draft.links.empty()) number_waiting();
  for (const FarSpan& far : draft.links) {
    if (far.id.is_zero()) continue;
    spans_.links.push_back({spans_.ids.number(far.trace, far.id), position, far.is_cause});
  }
  if (unit == k_us && begin % k_us == 0 && end % k_us == 0)
    spans_.unit = std::max<std::uint64_t>(spans_.unit, k_us);
  mark(draft, begin, clock);
}

void Reader::wait_for_number(const Id& trace, const Id& id, std::size_t position,
                             std::uint32_t Span::*member) {
  constexpr std::size_t k_most = 4096;
  if (waiting_.size() == k_most) number_waiting();
  waiting_.push_back(spans_.ids.key_of(trace, id));
  waiting_members_.emplace_back(position, member);
}

void Reader::number_waiting() {
  spans_.ids.number_all(waiting_, [&](std::size_t i, std::uint32_t number) {
    spans_.all[waiting_members_[i].first].*waiting_members_[i].second = number;
  });
  waiting_.clear();
  waiting_members_.clear();
}

/// Reads an element of a list, or a whole document. Traces of Zipkin are lists of spans.
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
      return lone_jaeger_span(from);
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

/// Reads a member of a document. Files may contain other signals than spans.
bool Reader::member(std::string_view key, value inner, bool& known, int depth) {
  const bool is_otlp = is_named(key, "resourceSpans") || key == "batches";
  const bool is_other = is_named(key, "resourceMetrics") || is_named(key, "resourceLogs");
  known = known || is_otlp || is_other || key == "data";
  if (is_other) spans_.other_signal = is_named(key, "resourceLogs") ? "logs" : "metrics";
  if (is_otlp) return otlp(inner);
  if (key == "data") return jaeger(inner);
  return !is_wrapper(key) || element(inner, known, depth);
}

bool Reader::document(json::Parser& parser, simdjson::padded_string_view padded, bool& known) {
  ondemand::document document;
  ondemand::json_type type{};
  if (!parser.begin(padded, document)) return false;
  if (document.type().get(type) != simdjson::SUCCESS) return false;
  if (type == ondemand::json_type::array || type == ondemand::json_type::object) {
    value all;
    if (document.get_value().get(all) != simdjson::SUCCESS || !element(all, known)) return false;
  }
  return document.current_location().error() == simdjson::OUT_OF_BOUNDS;
}

}  // namespace entrain::spans
