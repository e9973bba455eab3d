// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/identity.hpp"

#include <array>
#include <limits>
#include <map>
#include <optional>
#include <tuple>

#include <fmt/format.h>

#include "base/flat_map.hpp"
#include "formats/spans/screen.hpp"

namespace entrain::spans {

std::uint32_t Identity::host_of(std::uint32_t clock, std::uint64_t time) const {
  return part_at(periods[clock], time).host;
}

namespace {

/// Groups of places that are several clocks; see identify().
struct Replicas {
  std::vector<bool> is_split;  ///< true for a group each of whose places is a clock
  std::vector<bool> is_apart;  ///< true for a place that has another clock than its group
  /// Groups of which one is several clocks, and nothing tells these apart.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> unresolved;
};

/// Chosen, not measured; tests: identity_test.cpp, tests/services/situations.py.
struct ReplicaThresholds {
  static constexpr std::int64_t drift_divisor = 1000;  ///< 1,000 ppm: clocks that are never set
  static constexpr std::size_t most_steps = 3;         ///< so many changes may be steps of a clock
  static constexpr std::size_t least_share = 10;       ///< one change in so many calls, at least
  static constexpr std::size_t resolved_share = 8;     ///< one change in so many may be left
  static constexpr std::size_t anchor_calls = 8;       ///< calls without a change: no steps
  /// ns, a minute: a queue that delays calls of one host alike lets them wait no longer.
  static constexpr std::int64_t longest_queue = 60'000'000'000;
};

/// A call whose length fits into that of its client: the clock of the second group is ahead of that
/// of the first one by `least` to `most`, ns, if the client waited.
struct Call {
  std::int64_t least = 0, most = 0;
  std::int64_t length = 0;           ///< length of the client's span, with steps of both clocks
  std::int64_t time[2] = {0, 0};     ///< begins by the clocks of both groups
  std::uint32_t place[2] = {0, 0};   ///< numbers in Spans::clocks
  std::int64_t early = 0, late = 0;  ///< server: begins before its client, ends after it; ns
};

/// Calls between two groups.
struct Pair {
  std::uint32_t group[2] = {0, 0};
  std::vector<Call> calls;
};

std::int64_t minus(std::uint64_t a, std::uint64_t b) { return static_cast<std::int64_t>(a - b); }

/// Calls use(groups, call) for all calls between places that tell something; the groups may be one.
template <class Use>
void for_calls(const Spans& spans, const Family& family, const Screen& screen,
               std::span<const std::int64_t> steps, const Use& use) {
  for (std::uint32_t i = 0; i < spans.all.size(); ++i) {
    const std::uint32_t from = family.is_ignored(i) ? k_none : family.parent_of(i);
    if (from == k_none) continue;
    const Span &child = spans.all[i], &parent = spans.all[from];
    if (parent.role != Role::client || child.role != Role::server || child.follows) continue;
    const PlaceFacts &a = spans.facts[parent.clock], &b = spans.facts[child.clock];
    if (parent.clock == child.clock || a.is_changed || b.is_changed) continue;
    const Screen::Part* const one = screen.part_at(a.group, parent.begin);
    const Screen::Part* const other = screen.part_at(b.group, child.begin);
    const bool is_whole = child.end - child.begin <= parent.end - parent.begin;
    if (!is_whole || one == nullptr || other == nullptr || one->number + other->number > 0)
      continue;
    Call call{
        .least = minus(child.end, parent.end),
        .most = minus(child.begin, parent.begin),
        .length = minus(parent.end, parent.begin) + steps[a.group] + steps[b.group],
        .time = {static_cast<std::int64_t>(parent.begin), static_cast<std::int64_t>(child.begin)},
        .place = {parent.clock, child.clock},
        .early = minus(parent.begin, child.begin),
        .late = minus(child.end, parent.end)};
    const bool is_forward = std::pair(a.group, parent.clock) < std::pair(b.group, child.clock);
    if (!is_forward) {
      std::tie(call.least, call.most) = std::pair(-call.most, -call.least);
      std::swap(call.time[0], call.time[1]);
      std::swap(call.place[0], call.place[1]);
    }
    use(std::min(a.group, b.group), std::max(a.group, b.group), call);
  }
}

/// True if no clocks that drift apart explain both calls, even if a client gave up.
bool exclude(const Call& a, const Call& b, int side) {
  const std::int64_t gap = std::max(a.least - b.most, b.least - a.most);
  const std::int64_t drift =
      std::abs(a.time[side] - b.time[side]) / ReplicaThresholds::drift_divisor;
  return gap > a.length + b.length + drift;
}

/// Successive calls, by the clock of the other group, that exclude each other. `by_place`: only
/// those of one place of the group on this side.
std::size_t changes(std::vector<Call>& calls, int side, bool by_place) {
  const int other = 1 - side;
  std::sort(calls.begin(), calls.end(), [&](const Call& a, const Call& b) {
    const std::uint32_t p = by_place ? a.place[side] : 0, q = by_place ? b.place[side] : 0;
    return std::tie(p, a.time[other], a.time[side]) < std::tie(q, b.time[other], b.time[side]);
  });
  std::size_t count = 0;
  for (std::size_t i = 1; i < calls.size(); ++i) {
    if (by_place && calls[i].place[side] != calls[i - 1].place[side]) continue;
    count += exclude(calls[i - 1], calls[i], other) ? 1 : 0;
  }
  return count;
}

/// The coarser step of begins and ends of each group, ns.
std::vector<std::int64_t> steps_of_groups(const Spans& spans) {
  const Steps learned = learn_steps(spans, spans.groups.all().size(),
                                    [&](const Span& span) { return spans.group_of(span); });
  std::vector<std::int64_t> steps;
  for (std::size_t g = 0; g < learned.of_begins.size(); ++g) {
    steps.push_back(static_cast<std::int64_t>(std::max(learned.of_begins[g], learned.of_ends[g])));
  }
  return steps;
}

/// Pairs of groups, of which calls exclude each other; `calm` counts the calls of the others.
std::vector<Pair> suspects(const Spans& spans, const Family& family, const Screen& screen,
                           std::span<const std::int64_t> steps, std::vector<std::size_t>& calm) {
  struct Extent {
    std::int64_t least = std::numeric_limits<std::int64_t>::min();
    std::int64_t most = std::numeric_limits<std::int64_t>::max();
    std::int64_t length = 0;
    std::size_t calls = 0;
    std::uint32_t pair = k_none;
  };
  FlatMap<std::uint64_t, Extent, IntegerHash> extents;
  const auto key = [](std::uint32_t a, std::uint32_t b) { return std::uint64_t{a} << 32 | b; };
  std::vector<std::uint64_t> keys;
  for_calls(spans, family, screen, steps, [&](std::uint32_t a, std::uint32_t b, const Call& call) {
    if (a == b) return;
    const auto [extent, is_new] = extents.insert(key(a, b), Extent());
    if (is_new) keys.push_back(key(a, b));
    extent->least = std::max(extent->least, call.least);
    extent->most = std::min(extent->most, call.most);
    extent->length = std::max(extent->length, call.length);
    ++extent->calls;
  });
  std::vector<Pair> pairs;
  for (const std::uint64_t one : keys) {
    Extent& extent = *extents.find(one);
    const auto a = static_cast<std::uint32_t>(one >> 32), b = static_cast<std::uint32_t>(one);
    if (extent.least - extent.length <= extent.most) {
      calm[a] += extent.calls;
      calm[b] += extent.calls;
      continue;
    }
    extent.pair = static_cast<std::uint32_t>(pairs.size());
    pairs.push_back({.group = {a, b}, .calls = {}});
  }
  if (pairs.empty()) return pairs;
  for_calls(spans, family, screen, steps, [&](std::uint32_t a, std::uint32_t b, const Call& call) {
    if (a == b) return;
    const Extent& extent = *extents.find(key(a, b));
    if (extent.pair != k_none) pairs[extent.pair].calls.push_back(call);
  });
  return pairs;
}

/// Evidence of the calls of a pair about one of its groups.
struct Doubtful {
  std::size_t changes = 0;   ///< 0: too few for several clocks
  bool is_resolved = false;  ///< its places explain them
};

Doubtful look_at(std::vector<Call>& calls, int side) {
  using Threshold = ReplicaThresholds;
  const std::size_t found = changes(calls, side, false);
  const bool is_many =
      found > Threshold::most_steps && found * Threshold::least_share >= calls.size();
  if (!is_many) return {};
  return {found, changes(calls, side, true) * Threshold::resolved_share <= found};
}

/// The places of which most calls with others of their group exclude that the two are one clock,
/// more calls than a step of a clock costs, and in the same way. That with most such calls first. A
/// server that begins before its client does, by more than the client's span is long, has another
/// clock; one that is late may have waited, unless for longer than queues let work wait alike.
std::vector<bool> places_apart(const Spans& spans, const Family& family, const Screen& screen,
                               std::span<const std::int64_t> steps,
                               std::vector<std::string>& notes) {
  struct Calls {
    std::vector<Call> excluding;
    std::size_t all = 0;
  };
  struct Count {
    std::size_t excluding = 0, all = 0;
  };
  using Threshold = ReplicaThresholds;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Calls> of_places;
  for_calls(spans, family, screen, steps, [&](std::uint32_t a, std::uint32_t b, const Call& call) {
    if (a != b) return;
    Calls& calls = of_places[{call.place[0], call.place[1]}];
    ++calls.all;
    if (call.early > call.length || call.late > call.length + Threshold::longest_queue) {
      calls.excluding.push_back(call);
    }
  });
  for (auto& [places, calls] : of_places) {
    const std::size_t found = changes(calls.excluding, 0, false);
    const bool are_alike =
        found <= Threshold::most_steps && found * Threshold::least_share <= calls.excluding.size();
    if (!are_alike) calls.excluding.clear();
  }
  std::vector<bool> is_apart(spans.facts.size());
  for (;;) {
    std::map<std::uint32_t, Count> sums;
    for (const auto& [places, calls] : of_places) {
      if (is_apart[places.first] || is_apart[places.second]) continue;
      for (const std::uint32_t place : {places.first, places.second}) {
        sums[place].excluding += calls.excluding.size();
        sums[place].all += calls.all;
      }
    }
    std::erase_if(sums, [](const auto& one) {
      return one.second.excluding <= Threshold::most_steps ||
             2 * one.second.excluding <= one.second.all;
    });
    if (sums.empty()) return is_apart;
    const auto& [place, count] =
        *std::ranges::max_element(sums, {}, [](const auto& one) { return one.second.excluding; });
    is_apart[place] = true;
    notes.push_back(
        fmt::format("{} has a clock of its own: {} of {} calls between it and others "
                    "of {} exclude that theirs is the same",
                    spans.clocks.all()[place], count.excluding, count.all,
                    spans.groups.all()[spans.facts[place].group]));
  }
}

std::string note_of_split(const Spans& spans, std::uint32_t group) {
  const auto places = std::ranges::count_if(
      spans.facts, [&](const PlaceFacts& one) { return one.group == group && !one.is_changed; });
  return fmt::format("{} is the name of {} clocks, which other attributes tell apart",
                     spans.groups.all()[group], places);
}

SetAside calls_aside(const std::string& name, std::uint64_t calls, std::uint64_t all) {
  return {.kind = "several_clocks",
          .clock = name,
          .records = calls,
          .total = all,
          .is_decisive = true,
          .reason =
              fmt::format("spans of several clocks carry the name {}, and nothing tells them apart "
                          "(host.id, host.name, device.id or service.instance.id would): {} calls "
                          "were left out",
                          name, calls)};
}

/// Adds what it finds to `identity`, too.
Replicas find_replicas(const Spans& spans, const Family& family, const Screen& screen,
                       Identity& identity) {
  const std::vector<std::int64_t> steps = steps_of_groups(spans);
  Replicas replicas{.is_split = std::vector<bool>(spans.groups.all().size()),
                    .is_apart = places_apart(spans, family, screen, steps, identity.notes),
                    .unresolved = {}};
  auto& [is_split, is_apart, unresolved] = replicas;
  std::vector<std::size_t> calm(is_split.size());
  std::map<std::uint32_t, std::size_t> excluded;  // calls of groups that are several clocks
  std::vector<Pair> pairs = suspects(spans, family, screen, steps, calm);
  std::vector<std::array<Doubtful, 2>> doubtful;
  std::map<std::uint32_t, std::size_t> explained;  // pairs that a group explains as several clocks
  for (Pair& pair : pairs) {
    doubtful.push_back({look_at(pair.calls, 0), look_at(pair.calls, 1)});
    for (const int side : {0, 1}) {
      explained[pair.group[side]] += doubtful.back()[side].changes > 0 ? 1 : 0;
    }
  }
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const Pair& pair = pairs[i];
    const std::array<Doubtful, 2>& found = doubtful[i];
    const auto rank = [&](int side) {
      const std::size_t others = found[side].changes > 0 ? explained[pair.group[side]] : 0;
      // Calls of a third group that do not contradict each other show one clock.
      const bool is_one = calm[pair.group[side]] >= ReplicaThresholds::anchor_calls;
      return std::tuple(found[side].is_resolved, others, !is_one, found[side].changes);
    };
    const int side = rank(0) >= rank(1) ? 0 : 1;
    const std::uint32_t group = pair.group[side], other = pair.group[1 - side];
    // A few steps of the other clock may explain it, unless calls of a third one show none.
    const bool is_steady =
        found[1 - side].changes > 0 || calm[other] >= ReplicaThresholds::anchor_calls;
    if (found[side].is_resolved) {
      is_split[group] = true;
    } else if (found[side].changes > 0 && is_steady) {
      unresolved.emplace_back(group, other);
      excluded[group] += pair.calls.size();
    }
  }
  std::erase_if(replicas.unresolved, [&](const auto& pair) {
    return replicas.is_split[pair.first] || replicas.is_split[pair.second];
  });
  for (std::uint32_t group = 0; group < is_split.size(); ++group) {
    if (is_split[group]) identity.notes.push_back(note_of_split(spans, group));
    if (std::ranges::find(unresolved, group, [](const auto& pair) { return pair.first; }) !=
        unresolved.end()) {
      identity.set_aside.push_back(
          calls_aside(spans.groups.all()[group], excluded[group], excluded[group] + calm[group]));
    }
  }
  return replicas;
}

void name_several(const Spans& spans, const Replicas& replicas, Identity& identity) {
  std::map<std::string, std::vector<std::uint32_t>> hosts;
  for (std::uint32_t h = 0; h < identity.clocks.clocks.size(); ++h) {
    hosts[identity.clocks.clocks[h].name].push_back(h);
  }
  for (const auto& [a, b] : replicas.unresolved) {
    for (const std::uint32_t x : hosts[spans.groups.all()[a]]) {
      for (const std::uint32_t y : hosts[spans.groups.all()[b]])
        identity.several.emplace(std::minmax(x, y));
    }
  }
}

/// Sets the clock of each span, and the range of stamps of each clock.
void set_hosts(Identity& identity, Spans& spans) {
  std::vector<Clock>& clocks = identity.clocks.clocks;
  for (Clock& clock : clocks) clock.events.reset();
  for (Span& span : spans.all) {
    span.host = identity.host_of(span.clock, span.begin);
    std::optional<StampRange>& range = clocks[span.host].events;
    if (!range) range = {span.begin, span.end};
    range = {std::min(range->first, span.begin), std::max(range->last, span.end)};
  }
}

/// Example: 08:53:20.000 UTC.
std::string time_of_day(std::uint64_t time) {
  const std::uint64_t ms = time / 1'000'000 % 86'400'000;
  return fmt::format("{:02}:{:02}:{:02}.{:03} UTC", ms / 3'600'000, ms / 60'000 % 60,
                     ms / 1000 % 60, ms % 1000);
}

}  // namespace

void divide(Identity& identity, Spans& spans, std::span<const Fold> folds) {
  std::vector<Clock>& clocks = identity.clocks.clocks;
  for (std::size_t later = folds.size(); later-- > 0;) {
    const Fold& fold = folds[later];
    const auto added = static_cast<std::uint32_t>(clocks.size());
    const std::string name = clocks[fold.host].name, from = time_of_day(fold.first);
    clocks.push_back(clocks[fold.host]);
    clocks.back().name = fmt::format("{} (its clock from {} on)", name, from);
    identity.aside.push_back(identity.aside[fold.host]);
    identity.notes.push_back(
        fmt::format("the clock of {} was set back to before all that it shows from {} on: that "
                    "counts as of a clock of its own",
                    name, from));
    for (const auto& [a, b] : std::set(identity.several)) {
      if (a == fold.host || b == fold.host) identity.several.emplace(a + b - fold.host, added);
    }
    for (std::vector<Period>& periods : identity.periods) {
      for (std::size_t i = periods.size(); i-- > 0;) {
        const std::uint64_t end = i + 1 < periods.size() ? periods[i + 1].first : ~std::uint64_t{0};
        if (periods[i].host != fold.host || end <= fold.stamp) continue;
        if (periods[i].first >= fold.stamp) {
          periods[i].host = added;
        } else {
          periods.insert(periods.begin() + static_cast<std::ptrdiff_t>(i) + 1, {fold.stamp, added});
        }
      }
    }
  }
  set_hosts(identity, spans);
}

Identity identify(Spans& spans, const Family& family) {
  Identity result;
  const Screen screen(spans, family, result);
  const Replicas replicas = find_replicas(spans, family, screen, result);
  std::vector<Clock>& clocks = result.clocks.clocks;
  // Positions by group or place, which is true, and part of its times.
  std::map<std::tuple<bool, std::uint32_t, std::size_t>, std::uint32_t> positions;
  result.periods.resize(spans.clocks.all().size());
  const auto add_periods = [&](std::uint32_t place) {
    if (!result.periods[place].empty()) return;
    const PlaceFacts& facts = spans.facts[place];
    const bool is_place =
        replicas.is_split[facts.group] || replicas.is_apart[place] || facts.is_changed;
    const std::uint32_t number = is_place ? place : facts.group;
    const std::string& name = (is_place ? spans.clocks : spans.groups).all()[number];
    for (const Screen::Part& part : screen.parts_of(facts.group)) {
      const auto [known, is_new] = positions.try_emplace({is_place, number, part.number},
                                                         static_cast<std::uint32_t>(clocks.size()));
      if (is_new) {
        clocks.push_back({.name = name + part.name,
                          .kind = ClockKind::wall,
                          .granule = spans.unit > 1 ? 1000U : 0U});
        result.aside.push_back(facts.is_changed || part.is_aside);
      }
      result.periods[place].push_back({part.first, known->second});
    }
  };
  // A damaged span may hold times of a place that has no span.
  for (const Span& span : spans.all) add_periods(span.clock);
  for (std::uint32_t place = 0; place < result.periods.size(); ++place) add_periods(place);
  set_hosts(result, spans);
  name_several(spans, replicas, result);
  return result;
}

}  // namespace entrain::spans
