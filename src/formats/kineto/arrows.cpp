// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/arrows.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>

#include <fmt/core.h>

#include "base/text_hash.hpp"

namespace entrain::kineto {
namespace {

using Part = Arrow::Part;

/// Arrows of profilers from one row of a file to another one; their ids mean nothing elsewhere.
bool is_inner(std::string_view category) {
  constexpr std::array<std::string_view, 4> k_inner{"ac2g", "async_cpu_to_gpu", "async_gpu",
                                                    "fwdbwd"};
  return std::find(k_inner.begin(), k_inner.end(), category) != k_inner.end();
}

/// A part of an arrow with the position of its clock in the run.
struct Placed {
  std::uint64_t key = 0, time = 0;
  std::uint32_t clock = 0;
  Part part = Part::start;
};

bool is_of_one_clock(std::span<const Placed> parts) {
  return std::ranges::all_of(parts,
                             [&](const Placed& one) { return one.clock == parts.front().clock; });
}

/// Pairs the parts of one arrow, or of all that share an id. `parts`: in order of kind and time.
void pair_parts(std::span<const Placed> parts, ArrowEdges& result) {
  const auto of = [&](Part part) {
    return std::span(std::ranges::lower_bound(parts, part, {}, &Placed::part),
                     std::ranges::upper_bound(parts, part, {}, &Placed::part));
  };
  const auto starts = of(Part::start), steps = of(Part::step), ends = of(Part::end);
  const auto add = [&](const Placed& from, const Placed& to) {
    if (from.clock == to.clock) return;
    result.edges.push_back({from.clock, to.clock, from.time, to.time, from.key});
  };
  const auto join = [&](std::span<const Placed> from, std::span<const Placed> to) {
    for (const Placed& cause : from) {
      for (const Placed& effect : to) add(cause, effect);
    }
  };
  const std::size_t heads = steps.size() + ends.size();
  result.heads += heads;
  if (starts.size() == 1) {
    result.paired += heads;
    join(starts, steps.empty() ? ends : steps);
    if (!steps.empty()) join(steps, ends);
  } else if (steps.empty() && starts.size() == ends.size() && is_of_one_clock(starts) &&
             is_of_one_clock(ends)) {
    result.paired += heads;
    for (std::size_t k = 0; k < ends.size(); ++k) add(starts[k], ends[k]);
  } else if (!starts.empty()) {
    result.ambiguous += heads;
  }
}

}  // namespace

bool is_arrow(const EventText& event) {
  return event.is_phase('s') || event.is_phase('t') || event.is_phase('f');
}

std::string_view issue_time_of(const EventText& event) {
  if (!event.is_phase('c') || !is_word(event.name, "clock_sync")) return {};
  return member(event.arguments, "issue_ts");
}

std::string_view issue_time_to_move(const EventText& event) {
  bool cut = false;
  const std::string_view text = issue_time_of(event);
  const bool is_time = !text.empty() && !is_beyond(parse_time(text, cut).value_or(k_last_time + 1));
  return is_time ? text : std::string_view();
}

ArrowKey arrow_key(const EventText& event) {
  const std::string_view global = event.id.empty() ? member(event.id2, "global") : event.id;
  if (global.empty() || is_inner(event.category)) return {};
  const std::string kind = fmt::format("{} {} {}", event.category, event.name, event.scope);
  return {text_hash(kind), text_hash(fmt::format("{} {}", kind, global))};
}

void ArrowReader::see(const EventText& event, const KeptEvent& own) {
  if (is_arrow(event)) {
    const ArrowKey key = arrow_key(event);
    if (key.key == 0) return;
    const Part part = event.is_phase('s')   ? Part::start
                      : event.is_phase('t') ? Part::step
                                            : Part::end;
    add(key.kind, key.key, part, own, event.moment.has_value());
    return;
  }
  if (!is_word(event.name, "clock_sync")) return;
  const std::string_view sync = member(event.arguments, "sync_id"), text = issue_time_of(event);
  bool cut = false;
  const auto issued = text.empty() ? 0 : parse_time(text, cut);
  if (sync.empty() || !issued || is_beyond(*issued)) return;
  // Who issues a marker asks first, and hears that the other one has written it.
  const std::uint64_t kind = text_hash("clock_sync"),
                      request = text_hash(fmt::format("request {}", sync)),
                      answer = text_hash(fmt::format("answer {}", sync));
  const bool issues = !text.empty();
  KeptEvent asked = own;
  if (issues) asked.begin = *issued;
  add(kind, request, issues ? Part::start : Part::end, asked);
  add(kind, answer, issues ? Part::end : Part::start, own);
}

void ArrowReader::add(std::uint64_t kind, std::uint64_t key, Arrow::Part part, const KeptEvent& own,
                      bool is_flow) {
  parts_.push_back(
      {.arrow = {.key = key, .part = part}, .kind = kind, .own = own, .is_flow = is_flow});
}

/// Where most arrows of a kind begin and end here, the others are cut off.
void ArrowReader::finish(const ClockReader& clocks, RankFile& file) {
  struct Group {
    std::span<const Known> parts;
    bool is_whole = false;     ///< it begins and ends here
    bool leaves_rank = false;  ///< a whole one may lead from one rank in the file to another
  };
  std::ranges::stable_sort(parts_, {}, [](const Known& part) { return part.arrow.key; });
  const auto rank_of = [&](const Known& part) {
    return file.clocks[clocks.clock(part.own.row)].part;
  };
  std::vector<Group> groups;
  std::map<std::uint64_t, std::int64_t> open_of_kind;  // less those that are whole
  for (std::size_t first = 0, last = 0; first < parts_.size(); first = last) {
    Group& group = groups.emplace_back();
    bool starts = false, ends = false;
    for (; last < parts_.size() && parts_[last].arrow.key == parts_[first].arrow.key; ++last) {
      starts |= parts_[last].arrow.part == Part::start;
      ends |= parts_[last].arrow.part == Part::end || (parts_[last].is_flow && last > first);
      group.leaves_rank |= rank_of(parts_[last]) != rank_of(parts_[first]);
    }
    group.parts = std::span(parts_).subspan(first, last - first);
    group.is_whole = starts && ends;
    if (!group.leaves_rank) open_of_kind[parts_[first].kind] += group.is_whole ? -1 : 1;
  }
  for (const Group& group : groups) {
    const bool is_inside = group.is_whole || open_of_kind[group.parts.front().kind] < 0;
    if (is_inside && !group.leaves_rank) continue;
    for (Known part : group.parts) {
      part.arrow.clock = clocks.clock(part.own.row);
      if (file.clocks[part.arrow.clock].is_none(part.own.begin)) continue;
      clocks.count_on(part.own);
      std::int64_t time = 0;
      if (__builtin_add_overflow(part.own.begin, file.facts.base, &time) || time < 0) continue;
      part.arrow.time = static_cast<std::uint64_t>(time);
      file.arrows.push_back(part.arrow);
    }
  }
}

ArrowEdges pair_arrows(std::span<const RankFile> ranks) {
  std::vector<Placed> all;
  for (const RankFile& rank : ranks) {
    for (const Arrow& arrow : rank.arrows) {
      all.push_back({arrow.key, arrow.time, rank.numbers[arrow.clock], arrow.part});
    }
  }
  std::ranges::sort(all, {}, [](const Placed& one) {
    return std::tuple(one.key, one.part, one.time, one.clock);
  });
  ArrowEdges result;
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && all[last].key == all[first].key) ++last;
    pair_parts(std::span(all).subspan(first, last - first), result);
  }
  return result;
}

}  // namespace entrain::kineto
