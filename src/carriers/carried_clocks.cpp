// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/carried_clocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/edge_list.hpp"
#include "base/try.hpp"
#include "carriers/centring.hpp"
#include "carriers/inner_edges.hpp"
#include "carriers/set_clocks.hpp"
#include "explain/explain.hpp"
#include "explain/explained.hpp"
#include "trace/composed_map.hpp"

namespace entrain::carriers {

namespace {

class Carrying {
 public:
  Carrying(const Clocks& clocks, const Edges& edges, std::span<const std::uint32_t> process_of)
      : clocks_(clocks), edges_(edges) {
    std::map<std::uint32_t, std::uint32_t> place;
    result_.clocks = {.name = clocks.name, .resolution_hz = clocks.resolution_hz};
    for (std::uint32_t c = 0; c < clocks.clocks.size(); ++c) {
      const auto number = static_cast<std::uint32_t>(first_.size());
      const auto [at, is_new] = place.try_emplace(process_of[c], number);
      result_.carrier.push_back(at->second);
      if (!is_new) continue;
      first_.push_back(c);
      result_.clocks.clocks.push_back(clocks.clocks[c]);
    }
    result_.inner.resize(clocks.clocks.size());
  }

  Result<CarriedClocks> run(const explain::AlignGroup& align_group) {
    for (auto& [c, inner] : inner_edges()) {
      const std::int64_t shift = inner.shift();
      const bool is_constant = inner.least() <= inner.most();
      if (shift == 0 && is_constant) continue;
      result_.apart.push_back(clocks_.clocks[c].name);
      if (!is_constant) TRY(undo_steps(c, inner));
      const ClockMap level = result_.inner[c];
      result_.inner[c] = level.shifted(inner.shift());
      if (inner.least() > inner.most()) {
        TRY(follow_carrier(c, inner, align_group));
      } else {
        TRY_ASSIGN(const ClockMap centred, centre_if_it_moves(inner));
        if (!centred.is_identity()) {
          TRY_ASSIGN(result_.inner[c], trace::composed(level, centred));
        }
      }
    }
    widen();
    take_edges();
    take_instances();
    return std::move(result_);
  }

 private:
  /// Makes the times of a clock that was set those of one that was not, and tells it.
  Result<void> undo_steps(std::uint32_t c, Inner& inner) {
    std::vector<ClockKnot> knots;
    std::int64_t offset = 0;
    for (const SetClock& set : find_set_clocks(inner.list)) {
      if (!knots.empty() && set.before <= knots.back().local) continue;
      knots.push_back({set.before, offset});
      knots.push_back({set.after, offset += set.size});
      result_.steps.push_back(
          explained_step(clocks_.clocks[c].name, set.after, -set.size, clocks_.resolution_hz));
    }
    if (knots.empty()) return {};
    // Outside of the steps the map is constant.
    constexpr std::uint64_t k_beside = 1 << 20;
    knots.insert(knots.begin(), {knots.front().local - std::min(knots.front().local, k_beside),
                                 knots.front().offset});
    if (knots[0].local == knots[1].local) knots.erase(knots.begin());
    knots.push_back({knots.back().local + k_beside, knots.back().offset});
    TRY_ASSIGN(result_.inner[c], ClockMap::from_knots(std::move(knots)));
    Inner level;
    for (std::size_t e = 0; e < inner.list.cause_clock.size(); ++e) {
      const auto time = [&](std::uint32_t clock, std::uint64_t stamp) {
        return clock == 1 ? moved(c, stamp) : stamp;
      };
      const std::uint32_t cause = inner.list.cause_clock[e];
      level.add(cause == 0, time(cause, inner.list.cause_time[e]),
                time(1 - cause, inner.list.effect_time[e]));
    }
    inner = std::move(level);
    return {};
  }

  /// No constant meets the edges: the clock drifts.
  Result<void> follow_carrier(std::uint32_t c, Inner& inner,
                              const explain::AlignGroup& align_group) {
    const std::int64_t shift = inner.shift();
    inner.move(shift);
    Clocks pair{.name = clocks_.name,
                .resolution_hz = clocks_.resolution_hz,
                .clocks = {clocks_.clocks[first_[result_.carrier[c]]], clocks_.clocks[c]}};
    for (Clock& clock : pair.clocks) clock.process.clear();
    if (std::optional<StampRange>& events = pair.clocks[1].events) {
      events = {moved(c, events->first), moved(c, events->last)};
    }
    TRY_ASSIGN(const std::vector<ClockMap> maps, align_group(pair, inner.list.view()));
    TRY_ASSIGN(result_.inner[c], trace::composed(result_.inner[c], maps[1]));
    Inner aligned;
    for (std::size_t e = 0; e < inner.list.cause_clock.size(); ++e) {
      const auto time = [&](std::uint32_t clock, std::uint64_t stamp) {
        return clock == 1 ? static_cast<std::uint64_t>(maps[1](stamp)) : stamp;
      };
      const std::uint32_t cause = inner.list.cause_clock[e];
      aligned.add(cause == 0, time(cause, inner.list.cause_time[e]),
                  time(1 - cause, inner.list.effect_time[e]));
    }
    TRY_ASSIGN(const ClockMap centred, centre(aligned));
    const bool has_both = !aligned.lower.empty() && !aligned.upper.empty();
    if (!centred.is_identity()) {
      TRY_ASSIGN(result_.inner[c], trace::composed(result_.inner[c], centred));
    } else if (has_both && aligned.least() <= aligned.most()) {
      result_.inner[c] = result_.inner[c].shifted(aligned.likely());
    }
    return {};
  }

  [[nodiscard]] bool carries(std::uint32_t c) const { return first_[result_.carrier[c]] == c; }

  /// Edges between carried clocks and their carriers, by carried clock.
  [[nodiscard]] std::map<std::uint32_t, Inner> inner_edges() const {
    std::map<std::uint32_t, Inner> found;
    for (std::size_t e = 0; e < edges_.cause_clock.size(); ++e) {
      const std::uint32_t cause = edges_.cause_clock[e], effect = edges_.effect_clock[e];
      if (result_.carrier[cause] != result_.carrier[effect] || carries(cause) == carries(effect)) {
        continue;
      }
      found[carries(cause) ? effect : cause].add(carries(cause), edges_.cause_time[e],
                                                 edges_.effect_time[e]);
    }
    return found;
  }

  [[nodiscard]] std::uint64_t moved(std::uint32_t clock, std::uint64_t time) const {
    const std::int64_t by_carrier = result_.inner[clock](time);
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, by_carrier));
  }

  /// The maps of carriers must hold for all that they carry.
  void widen() {
    for (std::uint32_t c = 0; c < clocks_.clocks.size(); ++c) {
      const std::optional<StampRange>& own = clocks_.clocks[c].events;
      std::optional<StampRange>& all = result_.clocks.clocks[result_.carrier[c]].events;
      if (!own || carries(c)) continue;
      const StampRange there{moved(c, own->first), moved(c, own->last)};
      all = all ? StampRange{std::min(all->first, there.first), std::max(all->last, there.last)}
                : there;
    }
  }

  void take_edges() {
    EdgeList& list = result_.list;
    for (std::size_t e = 0; e < edges_.cause_clock.size(); ++e) {
      const std::uint32_t cause = edges_.cause_clock[e], effect = edges_.effect_clock[e];
      if (result_.carrier[cause] == result_.carrier[effect]) continue;
      list.add({result_.carrier[cause], moved(cause, edges_.cause_time[e])},
               {result_.carrier[effect], moved(effect, edges_.effect_time[e])});
      if (!edges_.min_delay.empty()) list.min_delay.push_back(edges_.min_delay[e]);
      if (!edges_.kind.empty()) list.kind.push_back(edges_.kind[e]);
    }
  }

  void take_instances() {
    for (const CollectiveInstance& one : edges_.instances) result_.list.instances.push_back(one);
    for (InstanceMember member : edges_.members) {
      member.time = moved(member.clock, member.time);
      member.clock = result_.carrier[member.clock];
      result_.list.members.push_back(member);
    }
  }

  const Clocks& clocks_;
  const Edges& edges_;
  std::vector<std::uint32_t> first_;  ///< position of each carrier among all clocks
  CarriedClocks result_;
};

}  // namespace

ClockExplanation explained_step(const std::string& clock, std::uint64_t time_ticks,
                                std::int64_t size_ticks, std::uint64_t resolution_hz) {
  const double ms = static_cast<double>(size_ticks) * 1e3 / static_cast<double>(resolution_hz);
  return {.kind = ExplanationKind::step,
          .clocks = {clock},
          .time_ticks = time_ticks,
          .size_ticks = size_ticks,
          .bits = explain::Prices::step,
          .text = fmt::format("the clock of {} was set by {:+.3f} ms at {}", clock, ms,
                              explain::words_for_time(time_ticks, resolution_hz))};
}

bool has_carried(std::span<const std::uint32_t> process_of) {
  std::vector<std::uint32_t> processes(process_of.begin(), process_of.end());
  std::sort(processes.begin(), processes.end());
  return std::adjacent_find(processes.begin(), processes.end()) != processes.end();
}

trace::ClockDomains domains_in_processes(const Edges& edges,
                                         std::span<const std::uint32_t> process_of) {
  const auto clocks = static_cast<std::uint32_t>(process_of.size());
  std::map<std::uint32_t, std::uint32_t> first;
  std::vector<std::uint32_t> of(clocks);
  for (std::uint32_t c = 0; c < clocks; ++c)
    of[c] = first.try_emplace(process_of[c], c).first->second;
  for (std::size_t e = 0; e < edges.cause_clock.size(); ++e) {
    const std::uint32_t cause = edges.cause_clock[e], effect = edges.effect_clock[e];
    if (process_of[cause] != process_of[effect]) continue;
    if (edges.effect_time[e] >= edges.cause_time[e]) continue;
    if (cause != first[process_of[cause]]) of[cause] = cause;
    if (effect != first[process_of[effect]]) of[effect] = effect;
  }
  return trace::domains_by(of);
}

Result<CarriedClocks> carried_clocks(const Clocks& clocks, const Edges& edges,
                                     std::span<const std::uint32_t> process_of,
                                     const explain::AlignGroup& align_group) {
  return Carrying(clocks, edges, process_of).run(align_group);
}

Result<std::vector<ClockMap>> maps_of_all(const CarriedClocks& carried,
                                          std::span<const ClockMap> maps) {
  std::vector<ClockMap> all;
  for (std::size_t c = 0; c < carried.carrier.size(); ++c) {
    const ClockMap& outer = maps[carried.carrier[c]];
    if (carried.inner[c].is_identity()) {
      all.push_back(outer);
      continue;
    }
    TRY_ASSIGN(ClockMap map, trace::composed(carried.inner[c], outer));
    all.push_back(std::move(map));
  }
  return all;
}

}  // namespace entrain::carriers
