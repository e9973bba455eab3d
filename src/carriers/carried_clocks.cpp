// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/carried_clocks.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "base/edge_list.hpp"
#include "base/try.hpp"
#include "carriers/centring.hpp"
#include "carriers/inner_edges.hpp"
#include "carriers/set_clocks.hpp"
#include "explain/given_constraints.hpp"
#include "trace/composed_map.hpp"

namespace entrain::carriers {

namespace {

class Carrying {
 public:
  Carrying(const Clocks& clocks, const Edges& edges, std::span<const std::uint32_t> carrier_of)
      : clocks_(clocks), edges_(edges), carrier_of_(carrier_of) {
    result_.clocks = {.name = clocks.name, .resolution_hz = clocks.resolution_hz};
    std::vector<std::uint32_t> number(clocks.clocks.size());
    for (std::uint32_t c = 0; c < clocks.clocks.size(); ++c) {
      if (!carries(c)) continue;
      number[c] = static_cast<std::uint32_t>(result_.clocks.clocks.size());
      result_.clocks.clocks.push_back(clocks.clocks[c]);
    }
    for (const std::uint32_t carrier : carrier_of) result_.carrier.push_back(number[carrier]);
    result_.inner.resize(clocks.clocks.size());
  }

  Result<CarriedClocks> run(const explain::AlignGroup& align_group) {
    for (auto& [c, inner] : inner_edges()) {
      const std::int64_t shift = inner.shift();
      const bool is_constant = inner.least() <= inner.most();
      if (shift == 0 && is_constant) continue;
      result_.apart.push_back(c);
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
    result_.list =
        explain::regroup(edges_, {[&](std::uint32_t clock, std::uint64_t time) {
                           return EdgeList::End{result_.carrier[clock], moved(clock, time)};
                         }});
    return std::move(result_);
  }

 private:
  /// Makes the times of a clock that was set those of one that was not, and notes it.
  Result<void> undo_steps(std::uint32_t c, Inner& inner) {
    std::vector<ClockKnot> knots;
    std::int64_t offset = 0;
    for (const SetClock& set : find_set_clocks(inner.ties)) {
      if (!knots.empty() && set.before <= knots.back().local) continue;
      knots.push_back({set.before, offset});
      knots.push_back({set.after, offset += set.size});
      result_.steps.push_back({c, set.after, -set.size});
    }
    if (knots.empty()) return {};
    // Outside of the steps the map is constant.
    constexpr std::uint64_t k_beside = 1 << 20;
    knots.insert(knots.begin(), {knots.front().local - std::min(knots.front().local, k_beside),
                                 knots.front().offset});
    if (knots[0].local == knots[1].local) knots.erase(knots.begin());
    knots.push_back({knots.back().local + k_beside, knots.back().offset});
    TRY_ASSIGN(result_.inner[c], ClockMap::from_knots(std::move(knots)));
    inner = inner.mapped(
        [&](std::uint64_t stamp) { return static_cast<std::int64_t>(moved(c, stamp)); });
    return {};
  }

  /// No constant meets the edges: the clock drifts.
  Result<void> follow_carrier(std::uint32_t c, const Inner& inner,
                              const explain::AlignGroup& align_group) {
    const Inner shifted = inner.mapped([shift = inner.shift()](std::uint64_t stamp) {
      return static_cast<std::int64_t>(stamp) + shift;
    });
    Clocks pair{.name = clocks_.name,
                .resolution_hz = clocks_.resolution_hz,
                .clocks = {clocks_.clocks[carrier_of_[c]], clocks_.clocks[c]}};
    for (Clock& clock : pair.clocks) clock.process.clear();
    if (std::optional<StampRange>& events = pair.clocks[1].events) {
      events = {moved(c, events->first), moved(c, events->last)};
    }
    const EdgeList edges = shifted.list();
    TRY_ASSIGN(const std::vector<ClockMap> maps, align_group(pair, edges.view()));
    TRY_ASSIGN(result_.inner[c], trace::composed(result_.inner[c], maps[1]));
    const Inner aligned = shifted.mapped(maps[1]);
    TRY_ASSIGN(const ClockMap centred, centre(aligned));
    const bool has_both = !aligned.lower.empty() && !aligned.upper.empty();
    if (!centred.is_identity()) {
      TRY_ASSIGN(result_.inner[c], trace::composed(result_.inner[c], centred));
    } else if (has_both && aligned.least() <= aligned.most()) {
      result_.inner[c] = result_.inner[c].shifted(aligned.likely());
    }
    return {};
  }

  [[nodiscard]] bool carries(std::uint32_t c) const { return carrier_of_[c] == c; }

  /// Edges between carried clocks and their carriers, by carried clock.
  [[nodiscard]] std::map<std::uint32_t, Inner> inner_edges() const {
    std::map<std::uint32_t, Inner> found;
    for (std::size_t e = 0; e < edges_.cause_clock.size(); ++e) {
      const std::uint32_t cause = edges_.cause_clock[e], effect = edges_.effect_clock[e];
      const bool is_upper = carries(effect);
      if (carrier_of_[cause] != carrier_of_[effect] || carries(cause) == is_upper) continue;
      const auto at = static_cast<std::int64_t>(edges_.cause_time[e]);
      const auto to = static_cast<std::int64_t>(edges_.effect_time[e]);
      found[is_upper ? cause : effect].add({is_upper ? to : at, is_upper ? at : to, is_upper});
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

  const Clocks& clocks_;
  const Edges& edges_;
  std::span<const std::uint32_t> carrier_of_;
  CarriedClocks result_;
};

}  // namespace

std::vector<std::uint32_t> first_of_processes(std::span<const std::uint32_t> process_of) {
  std::map<std::uint32_t, std::uint32_t> first;
  std::vector<std::uint32_t> of;
  for (std::uint32_t c = 0; c < process_of.size(); ++c) {
    of.push_back(first.try_emplace(process_of[c], c).first->second);
  }
  return of;
}

bool has_carried(std::span<const std::uint32_t> process_of) {
  std::vector<std::uint32_t> processes(process_of.begin(), process_of.end());
  std::sort(processes.begin(), processes.end());
  return std::adjacent_find(processes.begin(), processes.end()) != processes.end();
}

trace::ClockDomains domains_in_processes(const Edges& edges,
                                         std::span<const std::uint32_t> process_of) {
  const std::vector<std::uint32_t> first = first_of_processes(process_of);
  std::vector<std::uint32_t> of = first;
  for (std::size_t e = 0; e < edges.cause_clock.size(); ++e) {
    const std::uint32_t cause = edges.cause_clock[e], effect = edges.effect_clock[e];
    if (first[cause] != first[effect] || edges.effect_time[e] >= edges.cause_time[e]) continue;
    of[cause] = cause, of[effect] = effect;
  }
  return trace::domains_by(of);
}

Result<CarriedClocks> carried_clocks(const Clocks& clocks, const Edges& edges,
                                     std::span<const std::uint32_t> carrier_of,
                                     const explain::AlignGroup& align_group) {
  return Carrying(clocks, edges, carrier_of).run(align_group);
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
