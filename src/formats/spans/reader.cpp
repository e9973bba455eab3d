// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/reader.hpp"

#include <fmt/format.h>

#include "base/memory_room.hpp"
#include "formats/json/strings.hpp"
#include "formats/tables/times.hpp"

namespace entrain::spans {
namespace {

/// Times must be below, ns since 1970, so that a correction can move them.
constexpr std::uint64_t k_limit = tables::k_most_stamp;

/// True for a time that a correction can move; 0 means unknown.
bool can_move(const Number& number, std::uint32_t unit) {
  return !number.digits.empty() && number.value > 0 && number.value < (k_limit - 1) / unit;
}

}  // namespace

Reader::State Reader::state() const {
  return {spans.all.size(),
          stamps == nullptr ? 0 : stamps->size(),
          marks_ == nullptr ? 0 : marks_->size(),
          spans.untimed.size(),
          spans,
          seen};
}

void Reader::restore(const State& before) {
  number_waiting();
  spans.all.resize(before.spans);
  std::erase_if(spans.links, [&](const Link& link) { return link.span >= before.spans; });
  spans.untimed.resize(before.untimed);
  if (stamps != nullptr) stamps->resize(before.stamps);
  if (marks_ != nullptr) marks_->resize(before.marks);
  static_cast<SpanCounts&>(spans) = before.counts;
  seen = before.seen;
}

void Reader::mark(std::uint64_t begin, std::uint32_t clock) {
  if (marks_ == nullptr || draft.marked) return;
  Mark mark{.clock = clock, .time = begin, .form = draft.form};
  const auto position_of = [&](const char* at) {
    return static_cast<std::size_t>(at - text.data());
  };
  if (draft.form == Mark::Form::protobuf) {
    mark.at = position_of(draft.self.data() + draft.self.size());
  } else {
    mark.in_list = !draft.attributes.empty();
    mark.at = position_of((mark.in_list ? draft.attributes : draft.self).data()) + 1;
    const std::size_t next = text.find_first_not_of(" \t\r\n", mark.at);
    mark.alone = next < text.size() && (text[next] == ']' || text[next] == '}');
  }
  marks_->push_back(mark);
}

std::uint32_t Reader::clock_at(const Place& place) {
  const std::string group = place.clock(), part = place.part();
  const char* const state = place.is_changed ? " (times that a viewer has moved)" : "";
  const std::uint32_t number =
      spans.clocks.number(fmt::format("{}{}{}{}", group, part.empty() ? "" : " ", part, state));
  if (number == spans.facts.size()) {
    spans.facts.push_back({spans.groups.number(group), place.is_changed});
  }
  return number;
}

std::uint32_t Reader::owner_of_draft() {
  const bool is_nameless = !draft.has_place && draft.process.empty();
  if (is_nameless && nameless_owner_ != k_none) return nameless_owner_;
  const auto next = static_cast<std::uint32_t>(owners_.size());
  if (!owners_.empty() && owners_.back().second == draft.process &&
      owners_.back().first == draft.place) {
    return next - 1;
  }
  std::string key(draft.process);
  for (const std::string& sign : draft.place.signs) key += '\n' + sign;
  key += draft.place.is_changed ? "\nchanged" : "";
  const auto [known, is_new] = owner_numbers_.emplace(std::move(key), next);
  if (is_new) owners_.emplace_back(draft.place, draft.process);
  if (is_nameless) nameless_owner_ = known->second;
  return known->second;
}

void Reader::settle(const State& since, const std::function<Place(const std::string&)>& place_of) {
  std::vector<std::uint32_t> clocks;
  for (auto& [own, process] : owners_) {
    own.complete_with(place_of(process));
    clocks.push_back(clock_at(own));
  }
  const auto set = [&](auto& all, std::size_t first) {
    for (std::size_t i = first; i < all.size(); ++i) all[i].clock = clocks[all[i].clock];
  };
  set(spans.all, since.spans);
  if (stamps != nullptr) set(*stamps, since.stamps);
  if (marks_ != nullptr) set(*marks_, since.marks);
  set(spans.untimed, since.untimed);
  owners_.clear();
  owner_numbers_.clear();
  nameless_owner_ = k_none;
}

void Reader::ignore(std::uint32_t unit, std::uint32_t clock, bool is_backwards) {
  spans.untimed.push_back({clock, static_cast<double>(draft.begin.value) * unit, is_backwards});
}

/// Counts a time that cannot be moved, for the report.
void Reader::note_immovable(const Number& number, std::uint32_t unit) {
  const bool is_large = !number.digits.empty() && number.value >= (k_limit - 1) / unit;
  if (number.invalid.empty() && !is_large) return;
  if (spans.immovable_times++ > 0) return;
  spans.first_immovable_time = form == Stamp::Form::fixed64
                                   ? std::to_string(number.value)
                                   : json::excerpt(is_large ? number.digits : number.invalid);
}

void Reader::add_stamp(const Number& number, Stamp stamp) {
  stamp.fine = number.has_decimals;
  const bool is_whole = !stamp.fine && !stamp.truncated;
  seen.fine_us |= stamp.fine && stamp.unit == k_us;
  seen.whole_us |= is_whole && stamp.unit == k_us;
  seen.whole_ms |= is_whole && stamp.unit == k_ms;
  if (stamps == nullptr) return;
  stamp.at = static_cast<std::uint64_t>(number.digits.data() - text.data());
  stamp.size = static_cast<std::uint32_t>(number.digits.size());
  stamp.form = form;
  stamps->push_back(stamp);
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

void Reader::stamp_millis(std::uint32_t clock) {
  const Number &millis = draft.millis, &begin = draft.begin;
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
  if (finished_++ % k_between == 0) memory_ = check_memory_room(name);
  return memory_.has_value();
}

void Reader::finish(std::uint32_t unit, bool has_length, std::uint32_t clock) {
  // All times move with their host, even if the span has no id or no second time.
  for (const Number& instant : draft.instants) stamp(instant, unit, clock);
  stamp(draft.begin, unit, clock);
  if (has_length) {
    stamp_length(draft.end, draft.begin, unit, clock);
  } else {
    stamp(draft.end, unit, clock);
  }
  take(unit, has_length, clock);
}

void Reader::take(std::uint32_t unit, bool has_length, std::uint32_t clock) {
  if (is_missing(draft.id) || is_missing(draft.trace)) {
    ++spans.without_id;
    return;
  }
  const std::uint64_t most = (k_limit - 1) / unit;
  const bool has_end = !draft.end.digits.empty();
  // A span that polls says nothing without its end.
  const bool bad_end = draft.end.value >= most || (!has_end && (!has_length || draft.polls));
  if (!can_move(draft.begin, unit) || bad_end ||
      (has_length && draft.end.value >= most - draft.begin.value)) {
    return ignore(unit, clock);
  }
  const std::uint64_t begin = ns_of(draft.begin, unit);
  add_span(begin, ns_of(draft.end, unit) + (has_length ? begin : 0), unit, clock);
  if (has_end) return;
  ++spans.without_end;
  if (!only_times) spans.all.back().follows = true;
}

void Reader::add_span(std::uint64_t begin, std::uint64_t end, std::uint32_t unit,
                      std::uint32_t clock) {
  if (end < begin) return ignore(unit, clock, true);
  if (only_times) return mark(begin, clock);
  const std::size_t position = spans.all.size();
  spans.all.push_back({.clock = clock,
                       .operation = spans.operations.number(draft.name),
                       .role = draft.role,
                       .shared = draft.shared,
                       .polls = draft.polls,
                       .follows = draft.follows,
                       .begin = begin,
                       .end = end});
  wait_for_number(draft.id, position, &Span::id);
  if (!is_missing(draft.parent)) wait_for_number(draft.parent, position, &Span::parent);
  if (!draft.links.empty()) number_waiting();
  for (const FarSpan& far : draft.links) {
    if (far.id.is_zero()) continue;
    spans.links.push_back({spans.ids.number(far.trace, far.id), position, far.is_cause});
  }
  if (unit == k_us && begin % k_us == 0 && end % k_us == 0)
    spans.unit = std::max<std::uint64_t>(spans.unit, k_us);
  mark(begin, clock);
}

void Reader::wait_for_number(const Id& id, std::size_t position, std::uint32_t Span::*member) {
  constexpr std::size_t k_most = 4096;
  if (waiting_.size() == k_most) number_waiting();
  waiting_.push_back(spans.ids.key_of(draft.trace, id));
  waiting_members_.emplace_back(position, member);
}

void Reader::number_waiting() {
  spans.ids.number_all(waiting_, [&](std::size_t i, std::uint32_t number) {
    spans.all[waiting_members_[i].first].*waiting_members_[i].second = number;
  });
  waiting_.clear();
  waiting_members_.clear();
}

}  // namespace entrain::spans
