// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/carried_clocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/order.hpp"
#include "base/try.hpp"
#include "carriers/centring.hpp"
#include "explain/explain.hpp"
#include "explain/given_constraints.hpp"
#include "trace/clock_maps.hpp"

namespace entrain::carriers {

namespace {

/// A time at which a clock was set.
struct SetClock {
  std::uint64_t before = 0, after = 0;  ///< last time of the clock before, first one after
  std::int64_t size = 0;                ///< what is added more to its times afterwards
};

constexpr double k_crystals = 200e-6;  ///< rates of two crystals of 100 ppm each

/// The most that the limits of ties change per tick: the slope by the first and the last quarter of
/// them, and the rates of crystals beside it. `ties`: ordered by time of the carrier.
double rate_of(std::span<const Tie> ties) {
  const std::size_t quarter = ties.size() / 4;
  if (quarter == 0) return k_crystals;
  const auto mean = [&](std::size_t first) {
    double time = 0, ticks = 0;
    for (std::size_t k = first; k < first + quarter; ++k) {
      time += static_cast<double>(ties[k].host - ties.front().host);
      ticks += static_cast<double>(ties[k].ticks() - ties.front().ticks());
    }
    return std::pair(time, ticks);
  };
  const auto [t0, y0] = mean(0);
  const auto [t1, y1] = mean(ties.size() - quarter);
  return k_crystals + (t1 > t0 ? std::abs((y1 - y0) / (t1 - t0)) : 0);
}

/// Finds where the limits that edges put on a clock beside its carrier change faster than rates of
/// crystals do. In order of time.
class SetSearch {
 public:
  explicit SetSearch(std::vector<Tie> ties) : all_(std::move(ties)) {
    std::ranges::stable_sort(all_, {}, &Tie::host);
    rate_ = rate_of(all_);
  }

  [[nodiscard]] std::vector<SetClock> find() const {
    std::vector<SetClock> found;
    std::size_t begin = 0;  // ties of the present level
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const std::size_t first = i;
      while (i < all_.size() && at(begin, i)) ++i;
      if (i == first) continue;
      const std::size_t place = likely_place(begin, first, i - 1);
      found.push_back(*at(begin, place));
      begin = i = place;
    }
    return found;
  }

 private:
  static constexpr std::size_t k_least = 4;   ///< ties of each kind on either side
  static constexpr std::size_t k_most = 256;  ///< ties that are looked at for these

  /// The interval of offsets that ties on one side of a time allow there, at that rate.
  struct Room {
    double low = -static_cast<double>(k_any), high = static_cast<double>(k_any);
    std::int64_t first = k_any, last = -k_any;  ///< times of the clock
    std::size_t lower = 0, upper = 0;

    [[nodiscard]] bool is_known() const {
      return lower == k_least && upper == k_least && low <= high;
    }
    [[nodiscard]] double middle() const { return (low + high) / 2; }
  };
  void add(const Tie& tie, std::int64_t time, Room& room) const {
    std::size_t& count = tie.is_upper ? room.upper : room.lower;
    if (count == k_least) return;
    ++count;
    const double drift = rate_ * static_cast<double>(std::abs(tie.host - time));
    const auto ticks = static_cast<double>(tie.ticks());
    if (tie.is_upper) {
      room.high = std::min(room.high, ticks + drift);
    } else {
      room.low = std::max(room.low, ticks - drift);
    }
    room.first = std::min(room.first, tie.own), room.last = std::max(room.last, tie.own);
  }

  /// The intervals that ties before and after number i allow.
  [[nodiscard]] std::pair<Room, Room> rooms(std::size_t begin, std::size_t i) const {
    std::pair<Room, Room> found;
    for (std::size_t k = i; k > begin && i - k < k_most; --k) {
      add(all_[k - 1], all_[i].host, found.first);
    }
    for (std::size_t k = i; k < all_.size() && k - i < k_most; ++k) {
      add(all_[k], all_[i].host, found.second);
    }
    return found;
  }

  /// The step between ties i - 1 and i.
  [[nodiscard]] std::optional<SetClock> at(std::size_t begin, std::size_t i) const {
    const auto [before, after] = rooms(begin, i);
    if (!before.is_known() || !after.is_known()) return std::nullopt;
    if (after.low <= before.high && before.low <= after.high) return std::nullopt;
    SetClock set{.size = std::llround(after.middle() - before.middle())};
    const std::int64_t latest = after.first - 1 - std::max<std::int64_t>(0, -set.size);
    const std::int64_t last = std::min(before.last, latest);
    if (last < 0) return std::nullopt;
    set.before = static_cast<std::uint64_t>(last);
    set.after = static_cast<std::uint64_t>(after.first);
    return set;
  }

  /// The step lies between the same limits from place `first` to place `last`, of which that one is
  /// likely from which on ties are closer to the limits after it.
  [[nodiscard]] std::size_t likely_place(std::size_t begin, std::size_t first,
                                         std::size_t last) const {
    const Room before = rooms(begin, first).first, after = rooms(begin, last).second;
    std::size_t best = first;
    double cost = 0, least = 0;
    for (std::size_t k = first; k < last; ++k) {
      const auto apart = [&](const Room& room) {
        return std::abs(static_cast<double>(all_[k].ticks()) -
                        (all_[k].is_upper ? room.high : room.low));
      };
      cost += apart(before) - apart(after);
      if (cost < least) least = cost, best = k + 1;
    }
    return best;
  }

  std::vector<Tie> all_;
  double rate_ = k_crystals;
};

/// Ties of one kind, of those that count, that no clock meets beside some tie of the other kind,
/// at this rate beside the carrier. `ties`: ordered by time of the carrier. O(n).
std::vector<std::size_t> refuted(std::span<const Tie> ties, const std::vector<bool>& counts,
                                 double rate, bool is_upper) {
  const double sign = is_upper ? -1 : 1;
  const auto limit = [&](std::size_t i) { return sign * static_cast<double>(ties[i].ticks()); };
  std::vector<double> least(ties.size(), static_cast<double>(k_any));  // that the others allow
  const auto pass = [&](auto position) {
    auto allowed = static_cast<double>(k_any);
    for (std::size_t k = 0; k < ties.size(); ++k) {
      const std::size_t i = position(k);
      if (k > 0) {
        const std::int64_t time = std::abs(ties[i].host - ties[position(k - 1)].host);
        allowed += rate * static_cast<double>(time);
      }
      if (counts[i] && ties[i].is_upper != is_upper) allowed = std::min(allowed, limit(i));
      least[i] = std::min(least[i], allowed);
    }
  };
  pass([](std::size_t k) { return k; });
  pass([&](std::size_t k) { return ties.size() - 1 - k; });
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < ties.size(); ++i) {
    if (counts[i] && ties[i].is_upper == is_upper && limit(i) > least[i]) found.push_back(i);
  }
  return found;
}

/// Number of different stamps of the clock among some ties.
std::size_t stamps_of(std::span<const Tie> ties, std::span<const std::size_t> some) {
  std::set<std::int64_t> stamps;
  for (const std::size_t i : some) stamps.insert(ties[i].own);
  return stamps.size();
}

/// Ties with a wrong stamp: without them some clock may meet all others. Empty if there are none,
/// or if so many stamps would be wrong that a step of the clock costs no more, or more than one in
/// 20 ties.
std::vector<std::size_t> find_wrong(std::span<const Tie> ties) {
  constexpr auto k_most = static_cast<std::size_t>(explain::Prices::step / explain::Prices::pair);
  constexpr std::size_t k_share = 20;
  const double rate = rate_of(ties);
  std::vector<bool> counts(ties.size(), true);
  std::vector<std::size_t> wrong;
  for (std::size_t stamps = 0;;) {
    const std::vector<std::size_t> lower = refuted(ties, counts, rate, false);
    const std::vector<std::size_t> upper = refuted(ties, counts, rate, true);
    if (lower.empty()) return wrong;
    const std::size_t of_lower = stamps_of(ties, lower), of_upper = stamps_of(ties, upper);
    const std::vector<std::size_t>& fewer = of_lower <= of_upper ? lower : upper;
    stamps += std::min(of_lower, of_upper);
    wrong.insert(wrong.end(), fewer.begin(), fewer.end());
    if (stamps >= k_most || stamps * k_share > ties.size()) return {};
    for (const std::size_t i : fewer) counts[i] = false;
  }
}

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
    for (auto& [c, all] : inner_edges()) {
      Inner inner = all.inner;
      if (inner.is_met()) continue;
      inner = without_wrong(all);
      if (inner.is_met()) {
        note_wrong(c, all);
        continue;
      }
      const bool is_constant = inner.least() <= inner.most();
      result_.apart.push_back(c);
      if (!is_constant) TRY(undo_steps(c, inner));
      const ClockMap level = result_.inner[c];
      result_.inner[c] = level.shifted(inner.shift());
      if (inner.least() > inner.most()) {
        const ClockMap shifted = result_.inner[c];
        const Result<void> followed = follow_carrier(c, inner, align_group);
        if (!followed) {  // edges that contradict each other may ask for times beyond all limits
          if (followed.error().kind != ErrorKind::input) return tl::unexpected(followed.error());
          result_.inner[c] = shifted;
        }
      } else {
        const bool is_one_sided = inner.lower.empty() || inner.upper.empty();
        TRY_ASSIGN(const ClockMap centred,
                   is_one_sided ? drift_of_one_sided(inner) : centre_if_it_moves(inner));
        if (!centred.is_identity()) {
          TRY_ASSIGN(result_.inner[c], trace::composed(level, centred));
        }
      }
      note_wrong(c, all);
    }
    std::ranges::sort(result_.wrong);
    widen();
    result_.list =
        explain::regroup(edges_, {[&](std::uint32_t clock, std::uint64_t time) {
                           return EdgeList::End{result_.carrier[clock], moved(clock, time)};
                         }});
    return std::move(result_);
  }

 private:
  /// The edges of a clock with its carrier.
  struct InnerEdges {
    Inner inner;
    std::vector<std::uint32_t> edges;  ///< position of each tie
    std::vector<std::size_t> wrong;    ///< ties that are no evidence
  };

  /// The edges without those that are wrong. Where a constant meets all, none is: it costs less.
  static Inner without_wrong(InnerEdges& all) {
    if (all.inner.least() <= all.inner.most()) return all.inner;
    std::vector<std::size_t> order(all.edges.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return all.inner.ties[i].host; });
    std::vector<Tie> ties;
    for (const std::size_t i : order) ties.push_back(all.inner.ties[i]);
    for (const std::size_t i : find_wrong(ties)) all.wrong.push_back(order[i]);
    std::ranges::sort(all.wrong);
    Inner rest;
    for (std::size_t i = 0; i < all.edges.size(); ++i) {
      if (!std::ranges::binary_search(all.wrong, i)) rest.add(all.inner.ties[i]);
    }
    return rest;
  }
  /// Notes the ties that the map of their clock, which follows from the others, does not meet.
  void note_wrong(std::uint32_t c, const InnerEdges& all) {
    for (const std::size_t i : all.wrong) {
      const Tie& tie = all.inner.ties[i];
      const std::int64_t own = result_.inner[c](static_cast<std::uint64_t>(tie.own));
      if (tie.is_upper ? own > tie.host : own < tie.host) result_.wrong.push_back(all.edges[i]);
    }
  }

  /// Makes the times of a clock that was set those of one that was not, and notes it.
  Result<void> undo_steps(std::uint32_t c, Inner& inner) {
    std::vector<ClockKnot> knots;
    std::int64_t offset = 0;
    for (const SetClock& set : SetSearch(inner.ties).find()) {
      if (!knots.empty() && set.before <= knots.back().local) continue;
      knots.push_back({set.before, offset});
      knots.push_back({set.after, offset += set.size});
      result_.steps.push_back({c, set.after, -set.size});
    }
    if (knots.empty()) return {};
    // Outside of the steps the map is constant.
    constexpr std::uint64_t k_beside = 1 << 20;
    const ClockKnot first = knots.front();
    const std::uint64_t before = std::min(first.local, k_beside);
    if (before > 0) knots.insert(knots.begin(), {first.local - before, first.offset});
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
  [[nodiscard]] std::map<std::uint32_t, InnerEdges> inner_edges() const {
    std::map<std::uint32_t, InnerEdges> found;
    for (std::uint32_t e = 0; e < edges_.cause_clock.size(); ++e) {
      const std::uint32_t cause = edges_.cause_clock[e], effect = edges_.effect_clock[e];
      const bool is_upper = carries(effect);
      if (carrier_of_[cause] != carrier_of_[effect] || carries(cause) == is_upper) continue;
      const auto at = static_cast<std::int64_t>(edges_.cause_time[e]);
      const auto to = static_cast<std::int64_t>(edges_.effect_time[e]);
      InnerEdges& own = found[is_upper ? cause : effect];
      own.inner.add({is_upper ? to : at, is_upper ? at : to, is_upper});
      own.edges.push_back(e);
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
  std::ranges::sort(processes);
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

std::vector<std::uint32_t> outer_edges(const CarriedClocks& carried, const Edges& edges) {
  std::vector<std::uint32_t> outer;
  for (std::uint32_t e = 0; e < edges.cause_clock.size(); ++e) {
    if (carried.carrier[edges.cause_clock[e]] != carried.carrier[edges.effect_clock[e]]) {
      outer.push_back(e);
    }
  }
  return outer;
}

void leave_maps_to_carried(CarriedClocks& carried, const Edges& edges,
                           std::span<const ClockMap> maps) {
  struct Carrier {
    std::uint32_t first = k_none;  ///< the clock that carries
    bool may_stay = true;
    std::int64_t most = 0;           ///< largest move
    std::vector<std::int64_t> late;  ///< lateness of launched work, ticks
  };
  std::vector<Carrier> carriers(maps.size());
  for (std::uint32_t c = 0; c < carried.carrier.size(); ++c) {
    Carrier& own = carriers[carried.carrier[c]];
    if (own.first == k_none) {
      own.first = c;
    } else {  // of what carries others only a map that leaves it its own time is no identity
      own.may_stay &=
          std::ranges::binary_search(carried.apart, c) || !carried.inner[own.first].is_identity();
    }
  }
  // Edges of the carrier itself with others say whether it is wrong.
  const auto bear_witness = [&](std::uint32_t clock) {
    Carrier& own = carriers[carried.carrier[clock]];
    own.may_stay &= own.first != clock;
  };
  for (const InstanceMember& member : edges.members) bear_witness(member.clock);
  for (std::size_t e = 0; e < edges.cause_clock.size(); ++e) {
    const std::uint32_t cause = edges.cause_clock[e], effect = edges.effect_clock[e];
    const std::uint32_t carrier = carried.carrier[cause];
    Carrier& own = carriers[carrier];
    const bool is_launch = cause == own.first;
    if (carrier != carried.carrier[effect]) {
      for (const std::uint32_t end : {cause, effect}) bear_witness(end);
      continue;
    }
    if (cause == effect || !own.may_stay || (!is_launch && effect != own.first)) continue;
    if (std::ranges::binary_search(carried.wrong, e)) continue;
    const std::uint32_t work = is_launch ? effect : cause;
    const std::uint64_t stamp = is_launch ? edges.effect_time[e] : edges.cause_time[e];
    const auto host =
        static_cast<std::int64_t>(is_launch ? edges.cause_time[e] : edges.effect_time[e]);
    const auto total = [&](std::uint32_t clock, std::int64_t time) {
      const std::int64_t by_carrier = carried.inner[clock](static_cast<std::uint64_t>(time));
      return maps[carrier](static_cast<std::uint64_t>(std::max<std::int64_t>(0, by_carrier)));
    };
    const std::int64_t moved = total(work, static_cast<std::int64_t>(stamp));
    const std::int64_t with_host = total(own.first, host);
    own.may_stay = is_launch ? host <= moved : moved <= host;
    own.most = std::max(own.most, std::abs(with_host - host));
    if (is_launch) own.late.push_back(moved - with_host);
  }
  carried.still.clear();
  for (Carrier& own : carriers) {
    if (!own.may_stay || own.late.empty()) continue;
    if (own.most <= median(std::move(own.late))) carried.still.push_back(own.first);
  }
  std::ranges::sort(carried.still);
}

Result<std::vector<ClockMap>> maps_of_all(const CarriedClocks& carried,
                                          std::span<const ClockMap> maps) {
  std::vector<ClockMap> all;
  for (std::size_t c = 0; c < carried.carrier.size(); ++c) {
    const ClockMap& outer = maps[carried.carrier[c]];
    if (std::ranges::binary_search(carried.still, c)) {
      all.emplace_back();
      continue;
    }
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
