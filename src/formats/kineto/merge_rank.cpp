// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/merge_rank.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/core.h>

#include "base/cancel.hpp"
#include "base/flat_map.hpp"
#include "base/try.hpp"
#include "formats/json/strings.hpp"
#include "formats/kineto/arrows.hpp"
#include "formats/kineto/rewrite.hpp"

namespace entrain::kineto {

namespace {

std::uint64_t quick_hash(std::string_view text) { return std::hash<std::string_view>{}(text); }

/// A call, behind its clock and one of its stamps.
using CallStamp = std::pair<std::pair<std::uint32_t, std::uint64_t>, const Call*>;

std::vector<CallStamp> sorted_calls(const std::vector<RankFile>& ranks,
                                    std::uint64_t Call::*stamp) {
  std::vector<CallStamp> all;
  for (const RankFile& rank : ranks) {
    for (const Call& call : rank.calls) {
      all.push_back({{rank.numbers[call.clock], call.*stamp}, &call});
    }
  }
  std::ranges::sort(all, {}, &CallStamp::first);
  return all;
}

/// The only two calls of one group and number, if no other ones equal them in both times; else
/// null.
std::pair<const Call*, const Call*> partners(std::span<const CallStamp> from,
                                             std::span<const CallStamp> to) {
  const auto is_alone = [](std::span<const CallStamp> calls, const Call& call) {
    return std::ranges::count_if(calls, [&](const CallStamp& one) {
             return one.second->begin == call.begin && one.second->end == call.end;
           }) == 1;
  };
  std::pair<const Call*, const Call*> found{};
  for (const auto& [key, one] : from) {
    for (const auto& [other_key, other] : to) {
      if (one->group != other->group || one->number != other->number) continue;
      if (found.first != nullptr) return {};
      found = {one, other};
    }
  }
  if (found.first == nullptr) return {};
  return is_alone(from, *found.first) && is_alone(to, *found.second) ? found : decltype(found)();
}

}  // namespace

EventSort sort_of(const EventText& event) {
  // In order of EventSort.
  constexpr std::array<std::string_view, 10> k_phases{"X",   "B",   "E", "bS",  "eF",
                                                      "nTp", "stf", "C", "iIR", "M"};
  const auto known = std::ranges::find_if(k_phases, [&](std::string_view phases) {
    return event.phase.size() == 1 && phases.find(event.phase) != std::string_view::npos;
  });
  return static_cast<EventSort>(known - k_phases.begin());
}

std::string pair_key(const EventText& event) {
  if (!is_asynchronous(sort_of(event))) return fmt::format("{} {}", event.process, event.thread);
  return fmt::format("{}\n{}\n{}\n{}{}\n{}", event.process, event.category, event.name, event.id,
                     event.id2, event.scope);
}

AddedArrows::AddedArrows(const BigVector<formats::MergeArrow>& arrows,
                         const std::vector<RankFile>& ranks) {
  constexpr std::size_t k_most = 16;  // calls at one time, which would be no times
  const std::vector<CallStamp> begins = sorted_calls(ranks, &Call::begin),
                               ends = sorted_calls(ranks, &Call::end);
  const auto at = [](const std::vector<CallStamp>& all, std::uint32_t clock, std::uint64_t stamp) {
    const std::pair key(clock, stamp);
    return std::span(std::ranges::lower_bound(all, key, {}, &CallStamp::first),
                     std::ranges::upper_bound(all, key, {}, &CallStamp::first));
  };
  for (Side& side : sides_) side.taken.resize(arrows.size());
  for (std::uint64_t a = 0; a < arrows.size(); ++a) {
    const formats::MergeArrow& arrow = arrows[a];
    End from{arrow.from_clock, arrow.from, a}, to{arrow.to_clock, arrow.to, a};
    const auto starts = at(begins, from.clock, from.stamp), stops = at(ends, to.clock, to.stamp);
    if (starts.size() > 1 || stops.size() > 1) {
      const bool are_few = starts.size() <= k_most && stops.size() <= k_most;
      const auto [first, second] = are_few ? partners(starts, stops) : partners({}, {});
      if (first == nullptr) {
        ++left_out_;
        continue;
      }
      from.other = first->end;
      to.other = second->begin;
    }
    sides_[0].ends.push_back(from);
    sides_[1].ends.push_back(to);
  }
  for (Side& side : sides_) std::sort(side.ends.begin(), side.ends.end());
}

std::uint64_t AddedArrows::count() const {
  std::uint64_t count = 0;
  for (std::size_t a = 0; a < sides_[0].taken.size(); ++a) {
    count += sides_[0].taken[a] != 0 && sides_[1].taken[a] != 0 ? 1 : 0;
  }
  return count;
}

EventSort RankMerger::count(const Placed& placed) {
  const EventText& event = placed.event;
  const EventSort sort = sort_of(event);
  const auto odd = [&](const std::string& why) {
    ++unusual[why];
    ++events.instants;
    return EventSort::unknown;
  };
  if (sort == EventSort::metadata) {
    ++events.metadata;
    return sort;
  }
  if (!placed.has_time) return odd("events_without_a_time");
  switch (sort) {
    case EventSort::slice:
      ++(is_endless(event) ? events.unfinished : events.slices);
      return sort;
    case EventSort::begin:
    case EventSort::async_begin:
      ++open_[pair_key(event)];
      return sort;
    case EventSort::end:
    case EventSort::async_end: {
      const auto open = open_.find(pair_key(event));
      if (open == open_.end()) return odd("ends_without_a_begin");
      if (--open->second == 0) open_.erase(open);
      ++events.slices;
      return sort;
    }
    case EventSort::arrow:
      ++events.arrow_ends;
      return sort;
    case EventSort::counter: {
      values_.clear();
      const bool all = for_each_value(event, [&](std::string_view key, std::string_view text) {
        const auto number = parsed<double>(text);
        if (number) values_.push_back({key, parsed<std::int64_t>(text), *number});
        return number.has_value();
      });
      if (!all || values_.empty()) return odd("counters_without_numbers");
      events.counters += values_.size();
      return sort;
    }
    case EventSort::instant:
    case EventSort::async_instant:
      ++events.instants;
      return sort;
    default:
      return odd(fmt::format("phase_{}", event.phase));
  }
}

void RankMerger::count_unfinished() {
  for (const auto& [key, depth] : open_) events.unfinished += depth;
  open_.clear();
}

Result<void> RankMerger::walk(const std::function<Result<void>(const Placed&)>& see,
                              const FactSink& fact) {
  for (const RankFile* const file : unit_.files) {
    const auto timed = [&](const TimedEvent& one) -> Result<void> {
      const std::uint32_t number = file->numbers[one.clock];
      const ClockMap& map = share_.plan.maps[number];
      std::optional<EventText> moved;
      std::string arguments;
      if (const std::string issued = corrected_issue_time(one.text, *file, map, share_.base);
          !issued.empty()) {
        const std::string_view before = issue_time_of(one.text);
        const auto at = static_cast<std::size_t>(before.data() - one.text.arguments.data());
        arguments = std::string(one.text.arguments).replace(at, before.size(), issued);
        (moved = one.text)->arguments = arguments;
      }
      const std::int64_t begin = map(one.begin);
      const Placed placed{.event = moved ? *moved : one.text,
                          .clock = number,
                          .stamp = one.begin,
                          .end_stamp = one.end(),
                          .begin = begin,
                          .end = one.length == 0 ? begin : std::max(begin, map(one.end())),
                          .has_time = true};
      if (begin >= 0) return see(placed);
      return input_error("{}: a time would move before the year 1970", file->path.string());
    };
    const auto other = [&](const EventText& event) { return see({.event = event}); };
    const auto pass = [&](std::string_view text) {
      if (share_.plan.progress != nullptr) share_.plan.progress->advance(text.size());
      return Cancel(share_.plan.progress).check();
    };
    TRY_ASSIGN(
        const FileFacts found,
        for_each_time(*file, timed, {.see = other, .pass = pass, .fact = fact, .wants_all = true}));
    for (const auto& [what, count] : found.lost) unusual[what] += count;
  }
  return {};
}

std::uint64_t RankMerger::arrow_id(const EventText& event) const {
  const std::uint64_t key = arrow_key(event).key;
  if (share_.between_files.contains(key)) return key | 1;
  const std::uint64_t kind = mix(quick_hash(event.category) + mix(quick_hash(event.name)));
  const std::uint64_t id = mix(quick_hash(event.id) + mix(quick_hash(event.id2)));
  return mix(kind + mix(id + mix(unit_.number + 1))) | 1;
}

bool is_endless(const EventText& event) {
  return !event.has_length() && event.duration.starts_with('-');
}

std::string stored_time(const EventText& event) {
  return event.moment ? time_text(event.moment->time) : std::string(event.time);
}

std::string stored_length(const EventText& event) {
  if (!event.moment) return std::string(event.duration);
  return event.has_length() ? time_text(event.moment->length) : "";
}

std::string shown_text(std::string_view value) {
  return value.starts_with('"') && value.size() >= 2
             ? json::unescaped(value.substr(1, value.size() - 2))
             : std::string(value);
}

void for_each_other(const EventText& event,
                    const std::function<void(std::string_view, std::string_view)>& see) {
  constexpr std::array<std::string_view, 14> k_known{
      "ph", "cat", "name", "pid", "tid", "ts", "dur", "id", "id2", "scope", "args", "bp", "s", ""};
  if (event.others == 0) return;
  for_each_member(event.text, [&](std::string_view key, std::string_view value) {
    if (std::ranges::find(k_known, json::unescaped(key)) == k_known.end()) see(key, value);
    return true;
  });
}

}  // namespace entrain::kineto
