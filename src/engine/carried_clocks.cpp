// SPDX-License-Identifier: BSD-3-Clause
#include "engine/carried_clocks.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/try.hpp"
#include "sim/clock_model.hpp"

namespace entrain::engine {

namespace {

constexpr std::int64_t k_any = std::int64_t{1} << 62;  ///< no two stamps differ so much

/// Edges between a clock (1) and its carrier (0), and the constants that would meet them all.
struct Inner {
  tables::EdgeList list;
  std::int64_t least = -k_any, most = k_any;  ///< limits of what the clock's times get, ticks

  void add(bool from_carrier, std::uint64_t cause, std::uint64_t effect) {
    list.cause_clock.push_back(from_carrier ? 0 : 1);
    list.effect_clock.push_back(from_carrier ? 1 : 0);
    list.cause_time.push_back(cause);
    list.effect_time.push_back(effect);
    const auto missing = static_cast<std::int64_t>(cause - effect);
    (from_carrier ? least : most) =
        from_carrier ? std::max(least, missing) : std::min(most, -missing);
  }
  /// The constant nearest to 0 that meets the edges, or the middle if none does.
  [[nodiscard]] std::int64_t shift() const {
    return least > most ? most + (least - most) / 2 : std::clamp<std::int64_t>(0, least, most);
  }
  /// Moves the clock's times.
  void move(std::int64_t shift) {
    for (std::size_t e = 0; e < list.cause_clock.size(); ++e) {
      std::uint64_t& time = list.cause_clock[e] == 1 ? list.cause_time[e] : list.effect_time[e];
      time += static_cast<std::uint64_t>(shift);
    }
  }
};

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
      if (shift == 0 && inner.least <= inner.most) continue;
      result_.apart.push_back(clocks_.clocks[c].name);
      result_.inner[c] = ClockMap().shifted(shift);
      if (inner.least > inner.most) TRY(follow_carrier(c, inner, align_group));
    }
    widen();
    take_edges();
    take_instances();
    return std::move(result_);
  }

 private:
  /// No constant meets the edges: the clock drifts, or was set.
  Result<void> follow_carrier(std::uint32_t c, Inner& inner,
                              const explain::AlignGroup& align_group) {
    const std::int64_t shift = inner.shift();
    inner.move(shift);
    Clocks pair{.name = clocks_.name,
                .resolution_hz = clocks_.resolution_hz,
                .clocks = {clocks_.clocks[first_[result_.carrier[c]]], clocks_.clocks[c]}};
    for (Clock& clock : pair.clocks) clock.process.clear();
    if (std::optional<StampRange>& events = pair.clocks[1].events) {
      events->first += static_cast<std::uint64_t>(shift);
      events->last += static_cast<std::uint64_t>(shift);
    }
    TRY_ASSIGN(const std::vector<ClockMap> maps, align_group(pair, inner.list.view()));
    TRY_ASSIGN(result_.inner[c], sim::composed(result_.inner[c], maps[1]));
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
    tables::EdgeList& list = result_.list;
    for (std::size_t e = 0; e < edges_.cause_clock.size(); ++e) {
      const std::uint32_t cause = edges_.cause_clock[e], effect = edges_.effect_clock[e];
      if (result_.carrier[cause] == result_.carrier[effect]) continue;
      list.cause_clock.push_back(result_.carrier[cause]);
      list.effect_clock.push_back(result_.carrier[effect]);
      list.cause_time.push_back(moved(cause, edges_.cause_time[e]));
      list.effect_time.push_back(moved(effect, edges_.effect_time[e]));
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
    TRY_ASSIGN(ClockMap map, sim::composed(carried.inner[c], outer));
    all.push_back(std::move(map));
  }
  return all;
}

}  // namespace entrain::engine
