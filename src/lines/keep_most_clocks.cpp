// SPDX-License-Identifier: BSD-3-Clause
#include "lines/keep_most_clocks.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <utility>

#include "base/ids.hpp"
#include "base/try.hpp"
#include "lines/clock_steps.hpp"

namespace entrain::lines {
namespace {

std::uint64_t middle_of(const Clock& clock) {
  return clock.events ? clock.events->first + (clock.events->last - clock.events->first) / 2 : 0;
}

/// How far a map moves the middle of a clock's events.
std::int64_t shift_of(const Clock& clock, const ClockMap& map) {
  const std::uint64_t middle = middle_of(clock);
  return map(middle) - static_cast<std::int64_t>(middle);
}

/// How much later than its effect the cause of an edge is, by maps; below 0: it is not.
class Violation {
 public:
  Violation(const Edges& edges, std::span<const ClockMap> maps) : edges_(edges), maps_(maps) {}

  [[nodiscard]] std::int64_t of(std::size_t i) const {
    const std::int64_t delay = edges_.min_delay.empty() ? 0 : edges_.min_delay[i];
    return maps_[edges_.cause_clock[i]](edges_.cause_time[i]) + delay -
           maps_[edges_.effect_clock[i]](edges_.effect_time[i]);
  }
  [[nodiscard]] std::int64_t worst() const {
    std::int64_t worst = 0;
    for (std::size_t i = 0; i < edges_.cause_clock.size(); ++i) worst = std::max(worst, of(i));
    return worst;
  }

 private:
  const Edges& edges_;
  std::span<const ClockMap> maps_;
};

/// Per clock: others that it contradicts, as all are.
std::vector<std::set<std::uint32_t>> opponents_of(std::size_t clocks, const Edges& edges) {
  const std::vector<ClockMap> same(clocks);
  const Violation violation(edges, same);
  std::vector<std::set<std::uint32_t>> opponents(clocks);
  for (std::size_t i = 0; i < edges.cause_clock.size(); ++i) {
    if (violation.of(i) <= 0) continue;
    opponents[edges.cause_clock[i]].insert(edges.effect_clock[i]);
    opponents[edges.effect_clock[i]].insert(edges.cause_clock[i]);
  }
  return opponents;
}

using Opponents = std::vector<std::set<std::uint32_t>>;

/// Takes clocks in an order; each one stays that contradicts none of those before.
std::vector<char> stay_in_order(const Opponents& opponents, std::span<const std::uint32_t> order) {
  std::vector<char> stays(order.size(), 0);
  for (const std::uint32_t c : order) {
    stays[c] = std::none_of(opponents[c].begin(), opponents[c].end(),
                            [&](std::uint32_t other) { return stays[other] != 0; })
                   ? 1
                   : 0;
  }
  return stays;
}

/// Takes away the clock with the most opponents, the last one in the order of several, until none
/// has any.
std::vector<char> stay_unopposed(Opponents opponents, std::span<const std::uint32_t> order) {
  std::vector<char> stays(order.size(), 1);
  const auto fewer = [&](std::uint32_t a, std::uint32_t b) {
    return opponents[a].size() <= opponents[b].size();
  };
  while (true) {
    std::uint32_t worst = order.front();
    for (const std::uint32_t c : order) worst = fewer(worst, c) ? c : worst;
    if (opponents[worst].empty()) return stays;
    stays[worst] = 0;
    for (const std::uint32_t other : opponents[worst]) opponents[other].erase(worst);
    opponents[worst].clear();
  }
}

/// Returns which clocks stay, the larger set of two simple searches. `aligned` tells which clocks
/// are suspicious.
std::vector<char> choose_staying(const Clocks& clocks, const Edges& edges,
                                 std::span<const ClockMap> aligned) {
  const std::size_t count = clocks.clocks.size();
  const Opponents opponents = opponents_of(count, edges);
  std::vector<std::int64_t> shifts;
  for (std::size_t c = 0; c < count; ++c) {
    shifts.push_back(aligned.empty() ? 0 : shift_of(clocks.clocks[c], aligned[c]));
  }
  std::vector<std::int64_t> sorted = shifts;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((count - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  std::vector<std::uint32_t> order(count);
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::abs(shifts[a] - *middle) < std::abs(shifts[b] - *middle);
  });
  std::vector<char> near = stay_in_order(opponents, order);
  std::vector<char> unopposed = stay_unopposed(opponents, order);
  const auto kept = [](const std::vector<char>& stays) {
    return std::count(stays.begin(), stays.end(), 1);
  };
  return kept(unopposed) > kept(near) ? unopposed : near;
}

/// The map by which a clock shows the time of a reference that is itself to be mapped.
ClockMap seen_from(const ClockMap& reference, const ClockMap& map) {
  if (reference.is_identity()) return map;
  std::vector<std::uint64_t> stamps;
  for (const ClockKnot& knot : map.knots()) stamps.push_back(knot.local);
  for (const ClockKnot& knot : reference.knots()) {
    const std::int64_t time = static_cast<std::int64_t>(knot.local) + knot.offset;
    const std::int64_t offset = map(knot.local) - static_cast<std::int64_t>(knot.local);
    if (time > offset) stamps.push_back(static_cast<std::uint64_t>(time - offset));
  }
  std::sort(stamps.begin(), stamps.end());
  stamps.erase(std::unique(stamps.begin(), stamps.end()), stamps.end());
  std::vector<ClockKnot> knots;
  for (const std::uint64_t stamp : stamps) {
    const std::int64_t time = map(stamp);
    const auto there = static_cast<std::uint64_t>(std::max<std::int64_t>(time, 0));
    const std::int64_t ahead = reference(there) - static_cast<std::int64_t>(there);
    knots.push_back({stamp, time - ahead - static_cast<std::int64_t>(stamp)});
  }
  return ClockMap::from_knots(std::move(knots)).value_or(map);
}

/// A part of a run in which a clock was not set.
struct ClockStretch {
  StampRange range;
  ClockMap map;
};

/// Where a clock went back, what it showed twice is divided in the middle.
void part(std::vector<ClockStretch>& stretches) {
  for (std::size_t s = 1; s < stretches.size(); ++s) {
    std::uint64_t &end = stretches[s - 1].range.last, &begin = stretches[s].range.first;
    if (begin > end) continue;
    end = begin + (end - begin) / 2;
    begin = end + 1;
  }
}

/// Joins stretches in order, each of which holds in its range, to one map; empty if none is in
/// order.
std::optional<ClockMap> join(std::vector<ClockStretch> stretches, const StampRange& events) {
  stretches.front().range.first = std::min(stretches.front().range.first, events.first);
  stretches.back().range.last = std::max(stretches.back().range.last, events.last);
  part(stretches);
  std::vector<ClockKnot> knots;
  for (const auto& [range, own] : stretches) {
    const ClockMap& map = own;  // clang 14 and 15 capture no structured bindings
    if (range.first > range.last) return std::nullopt;
    const auto add = [&](std::uint64_t stamp) {
      knots.push_back({stamp, map(stamp) - static_cast<std::int64_t>(stamp)});
    };
    add(range.first);
    for (const ClockKnot& knot : map.knots()) {
      if (knot.local > range.first && knot.local < range.last) knots.push_back(knot);
    }
    if (range.last > range.first) add(range.last);
  }
  Result<ClockMap> map = ClockMap::from_knots(std::move(knots));
  if (!map || !map->keeps_order(events.first, events.last)) return std::nullopt;
  return *std::move(map);
}

/// Aligns clocks one after the other to those that have their place.
class Placer {
 public:
  Placer(const Clocks& clocks, const Edges& edges, const AlignPair& align_pair)
      : clocks_(clocks),
        edges_(edges),
        align_pair_(align_pair),
        maps_(clocks.clocks.size()),
        edges_of_(clocks.clocks.size()) {
    for (std::size_t i = 0; i < edges.cause_clock.size(); ++i) {
      edges_of_[edges.cause_clock[i]].push_back(i);
      edges_of_[edges.effect_clock[i]].push_back(i);
    }
  }

  /// Places the clocks with the most edges to placed clocks first. A clock without any stays.
  Result<std::vector<ClockMap>> run(std::vector<char> placed) && {
    std::vector<std::size_t> known(placed.size());  // edges to clocks in place
    std::vector<std::uint32_t> left;
    for (std::uint32_t c = 0; c < placed.size(); ++c) {
      if (placed[c] != 0) {
        tell_others(c, known);
      } else {
        left.push_back(c);
      }
    }
    while (!left.empty()) {
      const auto next =
          std::max_element(left.begin(), left.end(),
                           [&](std::uint32_t a, std::uint32_t b) { return known[a] < known[b]; });
      const std::uint32_t c = *next;
      if (known[c] > 0) TRY(place(c, placed));
      placed[c] = 1;
      tell_others(c, known);
      left.erase(next);
    }
    return std::move(maps_);
  }

 private:
  static constexpr const char* k_base = "in place";
  static constexpr const char* k_own = "to be placed";
  static constexpr std::uint64_t k_steps_per_second = 2000;  ///< 0.5 ms

  /// A clock is in place: counts its edges for those at their other ends.
  void tell_others(std::uint32_t c, std::vector<std::size_t>& known) const {
    for (const std::size_t i : edges_of_[c]) {
      const std::uint32_t cause = edges_.cause_clock[i];
      ++known[cause == c ? edges_.effect_clock[i] : cause];
    }
  }

  /// An edge to a clock that is in place, by the time of that one.
  struct Tie {
    std::uint64_t own = 0, other = 0;
    std::int64_t delay = 0;
    bool is_cause = false;  ///< the clock to be placed has the cause

    [[nodiscard]] OffsetLimit limit(std::uint64_t time) const {
      const auto offset = static_cast<std::int64_t>(other - own);
      return {time, is_cause ? offset - delay : offset + delay, is_cause};
    }
  };

  [[nodiscard]] std::vector<Tie> ties_of(std::uint32_t c, std::span<const char> placed) const {
    std::vector<Tie> ties;
    for (const std::size_t i : edges_of_[c]) {
      const std::uint32_t cause = edges_.cause_clock[i], effect = edges_.effect_clock[i];
      const std::uint32_t other = cause == c ? effect : cause;
      if (other == c || placed[other] == 0) continue;
      const std::uint64_t first = edges_.cause_time[i], second = edges_.effect_time[i];
      ties.push_back({.own = cause == c ? first : second,
                      .other = time(other, cause == c ? second : first),
                      .delay = edges_.min_delay.empty() ? 0 : edges_.min_delay[i],
                      .is_cause = cause == c});
    }
    return ties;
  }

  /// Sorts ties by one of their times.
  ClockSteps steps_in(std::vector<Tie>& ties, std::uint64_t Tie::*time) const {
    std::stable_sort(ties.begin(), ties.end(),
                     [&](const Tie& a, const Tie& b) { return a.*time < b.*time; });
    std::vector<OffsetLimit> limits;
    for (const Tie& tie : ties) limits.push_back(tie.limit(tie.*time));
    return find_steps(limits, tolerance());
  }

  /// A clock that was set back shows times twice, which only others tell apart.
  std::vector<std::size_t> sort_by_steps(std::vector<Tie>& ties) const {
    ClockSteps steps = steps_in(ties, &Tie::own);
    if (steps.back) steps = steps_in(ties, &Tie::other);
    return std::move(steps.starts);
  }

  /// A clock that was set is placed stretch by stretch.
  Result<void> place(std::uint32_t c, std::span<const char> placed) {
    std::vector<Tie> ties = ties_of(c, placed);
    const StampRange events = *clocks_.clocks[c].events;
    std::vector<std::size_t> starts = sort_by_steps(ties);
    if (!starts.empty()) {
      starts.insert(starts.begin(), 0);
      std::vector<ClockStretch> stretches;
      for (std::size_t s = 0; s < starts.size(); ++s) {
        const std::size_t end = s + 1 < starts.size() ? starts[s + 1] : ties.size();
        const std::span<const Tie> own = std::span(ties).subspan(starts[s], end - starts[s]);
        const auto earlier = [](const Tie& a, const Tie& b) { return a.own < b.own; };
        const auto [first, last] = std::minmax_element(own.begin(), own.end(), earlier);
        const StampRange range{first->own, last->own};
        TRY_ASSIGN(ClockMap map, map_of(own, range));
        stretches.push_back({range, std::move(map)});
      }
      if (std::optional<ClockMap> joined = join(std::move(stretches), events)) {
        maps_[c] = *std::move(joined);
        return {};
      }
    }
    TRY_ASSIGN(maps_[c], map_of(ties, events));
    return {};
  }

  Result<ClockMap> map_of(std::span<const Tie> ties, const StampRange& events) {
    std::vector<std::uint32_t> cause_clock, effect_clock;
    std::vector<std::uint64_t> cause_time, effect_time;
    std::vector<std::int64_t> min_delay;
    for (const Tie& tie : ties) {
      cause_clock.push_back(tie.is_cause ? 1 : 0);
      effect_clock.push_back(tie.is_cause ? 0 : 1);
      cause_time.push_back(tie.is_cause ? tie.own : tie.other);
      effect_time.push_back(tie.is_cause ? tie.other : tie.own);
      if (!edges_.min_delay.empty()) min_delay.push_back(tie.delay);
    }
    Clocks pair{.name = clocks_.name, .resolution_hz = clocks_.resolution_hz};
    pair.clocks = {Clock{.name = k_base, .kind = ClockKind::wall, .events = events},
                   Clock{.name = k_own, .kind = ClockKind::wall, .events = events}};
    TRY_ASSIGN(const std::vector<ClockMap> maps, align_pair_(pair, {.cause_clock = cause_clock,
                                                                    .cause_time = cause_time,
                                                                    .effect_clock = effect_clock,
                                                                    .effect_time = effect_time,
                                                                    .min_delay = min_delay}));
    return seen_from(maps[0], maps[1]);
  }

  /// Clocks in place may be apart by this without a step.
  [[nodiscard]] std::int64_t tolerance() const {
    return static_cast<std::int64_t>(clocks_.resolution_hz / k_steps_per_second);
  }

  /// A stamp of a clock that is in place.
  [[nodiscard]] std::uint64_t time(std::uint32_t clock, std::uint64_t stamp) const {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(maps_[clock](stamp), 0));
  }

  const Clocks& clocks_;
  const Edges& edges_;
  const AlignPair& align_pair_;
  std::vector<ClockMap> maps_;
  std::vector<std::vector<std::size_t>> edges_of_;  ///< edges of each clock
};

/// By how much the maps move clocks that could stay, at most.
std::int64_t largest_move(const Clocks& clocks, std::span<const char> stays,
                          std::span<const ClockMap> maps) {
  std::int64_t largest = 0;
  for (std::size_t c = 0; c < maps.size(); ++c) {
    const auto& events = clocks.clocks[c].events;
    if (stays[c] == 0 || !events) continue;
    for (const std::uint64_t stamp : {events->first, middle_of(clocks.clocks[c]), events->last}) {
      largest = std::max(largest, std::abs(maps[c](stamp) - static_cast<std::int64_t>(stamp)));
    }
  }
  return largest;
}

/// Returns the largest connected component of the clocks that stay: edges to other components say
/// nothing about the distance between them.
std::vector<char> largest_group(std::vector<char> stays, const Edges& edges) {
  std::vector<std::uint32_t> above(stays.size());
  std::iota(above.begin(), above.end(), 0u);
  const auto group_of = [&](std::uint32_t c) {
    while (above[c] != c) c = above[c] = above[above[c]];
    return c;
  };
  for (std::size_t i = 0; i < edges.cause_clock.size(); ++i) {
    const std::uint32_t cause = edges.cause_clock[i], effect = edges.effect_clock[i];
    if (stays[cause] != 0 && stays[effect] != 0) above[group_of(cause)] = group_of(effect);
  }
  std::vector<std::size_t> size(stays.size());
  for (std::uint32_t c = 0; c < stays.size(); ++c) size[group_of(c)] += stays[c] != 0 ? 1 : 0;
  const auto largest =
      static_cast<std::uint32_t>(std::max_element(size.begin(), size.end()) - size.begin());
  for (std::uint32_t c = 0; c < stays.size(); ++c) {
    if (group_of(c) != largest) stays[c] = 0;
  }
  return stays;
}

}  // namespace

Result<std::optional<KeptClocks>> keep_most_clocks(const Clocks& clocks, const Edges& edges,
                                                   std::span<const ClockMap> aligned,
                                                   const AlignPair& align_pair) {
  const std::vector<char> stays = choose_staying(clocks, edges, aligned);
  const auto kept_by = [](std::span<const ClockMap> maps) {
    return static_cast<std::uint64_t>(std::count_if(
        maps.begin(), maps.end(), [](const ClockMap& map) { return map.is_identity(); }));
  };
  const auto violation = [&](std::span<const ClockMap> maps) {
    return Violation(edges, maps).worst();
  };
  const std::size_t all = clocks.clocks.size();
  const bool is_known = !aligned.empty() && kept_by(aligned) < all;  // else nothing was aligned
  const std::uint64_t kept_before = is_known ? kept_by(aligned) : (all - 1) / 2;
  if (static_cast<std::uint64_t>(std::count(stays.begin(), stays.end(), 1)) <= kept_before) {
    return std::nullopt;
  }
  TRY_ASSIGN(std::vector<ClockMap> maps, Placer(clocks, edges, align_pair).run(stays));
  const std::vector<char> group = largest_group(stays, edges);
  if (violation(maps) > 0 && group != stays) {
    TRY_ASSIGN(std::vector<ClockMap> fewer, Placer(clocks, edges, align_pair).run(group));
    if (violation(fewer) < violation(maps) / 2) maps = std::move(fewer);
  }
  std::int64_t most = 0;
  if (is_known) {
    most = std::max(violation(aligned), largest_move(clocks, stays, aligned));
  } else if (!aligned.empty()) {
    most = violation(aligned) / 2;
  }
  const std::uint64_t kept = kept_by(maps);
  if (kept <= kept_before || violation(maps) > most) return std::nullopt;
  return KeptClocks{.maps = std::move(maps), .kept = kept};
}

}  // namespace entrain::lines
