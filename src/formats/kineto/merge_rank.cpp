// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/merge_rank.hpp"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/cancel.hpp"
#include "base/flat_map.hpp"
#include "base/try.hpp"
#include "formats/json/scanner.hpp"
#include "formats/json/strings.hpp"
#include "formats/kineto/arrows.hpp"
#include "formats/kineto/rewrite.hpp"

namespace entrain::kineto {

namespace {

std::uint64_t text_hash(std::string_view text) { return std::hash<std::string_view>{}(text); }

}  // namespace

EventSort sort_of(const EventText& event) {
  if (event.phase.size() != 1) return EventSort::unknown;
  switch (event.phase.front()) {
    case 'X':
      return EventSort::slice;
    case 'B':
      return EventSort::begin;
    case 'E':
      return EventSort::end;
    case 'b':
    case 'S':
      return EventSort::async_begin;
    case 'e':
    case 'F':
      return EventSort::async_end;
    case 'n':
    case 'T':
    case 'p':
      return EventSort::async_instant;
    case 's':
    case 't':
    case 'f':
      return EventSort::arrow;
    case 'C':
      return EventSort::counter;
    case 'i':
    case 'I':
    case 'R':
      return EventSort::instant;
    case 'M':
      return EventSort::metadata;
    default:
      return EventSort::unknown;
  }
}

std::string pair_key(const EventText& event, bool is_async) {
  if (!is_async) return fmt::format("{} {}", event.process, event.thread);
  return fmt::format("{}\n{}\n{}\n{}{}\n{}", event.process, event.category, event.name, event.id,
                     event.id2, event.scope);
}

AddedArrows::AddedArrows(const BigVector<formats::MergeArrow>& arrows) {
  for (Side& side : sides_) {
    const bool arrives = &side != sides_.data();
    side.taken.resize(arrows.size());
    for (std::uint64_t a = 0; a < arrows.size(); ++a) {
      const formats::MergeArrow& arrow = arrows[a];
      side.ends.push_back(arrives ? End{arrow.to_clock, arrow.to, a}
                                  : End{arrow.from_clock, arrow.from, a});
    }
    std::sort(side.ends.begin(), side.ends.end());
  }
}

std::uint64_t AddedArrows::count() const {
  std::uint64_t count = 0;
  for (std::size_t a = 0; a < sides_[0].taken.size(); ++a) {
    count += sides_[0].taken[a] != 0 && sides_[1].taken[a] != 0 ? 1 : 0;
  }
  return count;
}

Result<void> RankMerger::walk(const std::function<Result<void>(const Placed&)>& see,
                              const FactSink& fact) {
  for (const RankFile* const file : unit_.files) {
    const auto timed = [&](const EventText& event, std::uint32_t clock, std::uint64_t begin,
                           std::int64_t duration) -> Result<void> {
      const std::uint32_t number = file->numbers[clock];
      const ClockMap& map = share_.plan.maps[number];
      const std::uint64_t end =
          begin + static_cast<std::uint64_t>(std::max<std::int64_t>(duration, 0));
      const Placed placed{.event = event,
                          .clock = number,
                          .stamp = begin,
                          .end_stamp = end,
                          .begin = map(begin),
                          .end = std::max(map(begin), map(end)),
                          .has_time = true};
      if (placed.begin >= 0) return see(placed);
      return fail(ErrorKind::input,
                  fmt::format("{}: a time would move before the year 1970", file->path.string()));
    };
    const auto other = [&](const EventText& event) { return see({.event = event}); };
    const auto pass = [&](std::string_view text) {
      if (share_.plan.progress != nullptr) share_.plan.progress->advance(text.size());
      return Cancel(share_.plan.progress).check();
    };
    TRY(for_each_time(*file, timed, {.see = other, .pass = pass, .fact = fact, .wants_all = true}));
  }
  return {};
}

std::uint64_t RankMerger::arrow_id(const EventText& event) const {
  const std::uint64_t key = arrow_key(event).key;
  if (std::ranges::binary_search(share_.between_files, key)) return key | 1;
  const std::uint64_t kind = mix(text_hash(event.category) + mix(text_hash(event.name)));
  const std::uint64_t id = mix(text_hash(event.id) + mix(text_hash(event.id2)));
  return mix(kind + mix(id + mix(unit_.number + 1))) | 1;
}

bool for_each_value(const EventText& event,
                    const std::function<bool(std::string_view, std::string_view)>& see) {
  json::Scanner scanner(event.arguments);
  std::string_view key, value;
  if (event.arguments.empty()) return true;
  if (!scanner.open('{')) return false;
  while (scanner.next_key(key)) {
    if (!scanner.value(value) || !see(key, value)) return false;
  }
  return !scanner.failed();
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
  json::Scanner scanner(event.text);
  std::string_view key, value;
  scanner.open('{');
  while (scanner.next_key(key) && scanner.value(value)) {
    if (std::ranges::find(k_known, json::unescaped(key)) == k_known.end()) see(key, value);
  }
}

}  // namespace entrain::kineto
