// SPDX-License-Identifier: BSD-3-Clause
#include "carriers/carried_clocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/try.hpp"
#include "explain/explain.hpp"
#include "explain/explained.hpp"
#include "trace/composed_map.hpp"

namespace entrain::carriers {

namespace {

constexpr std::int64_t k_any = std::int64_t{1} << 62;  ///< no two stamps differ so much

/// A limit of what is added to a clock's times.
struct Limit {
  std::int64_t time = 0;   ///< of the clock
  std::int64_t ticks = 0;  ///< the limit
};

/// How far the smallest quarter of some limits is apart from the closest one, of the distances of
/// the others from it.
double spread(std::vector<std::int64_t> values) {
  if (values.empty()) return static_cast<double>(k_any);
  const auto fourth = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 4);
  std::ranges::nth_element(values, fourth);
  return static_cast<double>(*fourth) + 1;
}

/// The way from the least to the most that limits allow at which the clock likely is, of which
/// `below` and `above` are the spreads: the shortest time from a launch to its kernel, and from a
/// kernel to the call that waits for it, is about as long as the shortest of these times vary.
double likely_share(double below, double above) {
  return below * below / (below * below + above * above);
}

/// Edges between a clock (1) and its carrier (0), and the constants that would meet them all.
struct Inner {
  tables::EdgeList list;
  std::vector<Limit> lower, upper;

  void add(bool from_carrier, std::uint64_t cause, std::uint64_t effect) {
    list.add({from_carrier ? 0U : 1U, cause}, {from_carrier ? 1U : 0U, effect});
    const auto missing = static_cast<std::int64_t>(cause - effect);
    const auto time = static_cast<std::int64_t>(from_carrier ? effect : cause);
    (from_carrier ? lower : upper).push_back({time, from_carrier ? missing : -missing});
  }
  [[nodiscard]] std::int64_t least() const {
    return lower.empty() ? -k_any : std::ranges::max(lower, {}, &Limit::ticks).ticks;
  }
  [[nodiscard]] std::int64_t most() const {
    return upper.empty() ? k_any : std::ranges::min(upper, {}, &Limit::ticks).ticks;
  }
  /// A constant that meets the edges, if one does: of both limits the mean, weighted by how dense
  /// edges are there. A limit alone: itself.
  [[nodiscard]] std::int64_t likely() const {
    const std::int64_t low = least(), high = most();
    if (upper.empty()) return low;
    if (lower.empty()) return high;
    std::vector<std::int64_t> below, above;  // but for the limits themselves
    for (const Limit& one : lower) below.push_back(low - one.ticks);
    for (const Limit& one : upper) above.push_back(one.ticks - high);
    const auto leave_one_out = [](std::vector<std::int64_t>& values) {
      values.erase(std::ranges::find(values, 0));
    };
    leave_one_out(below), leave_one_out(above);
    const double share = likely_share(spread(std::move(below)), spread(std::move(above)));
    return low + std::llround(share * static_cast<double>(high - low));
  }
  /// The same, but 0 if that meets the edges.
  [[nodiscard]] std::int64_t shift() const { return least() <= 0 && most() >= 0 ? 0 : likely(); }
  /// Moves the clock's times.
  void move(std::int64_t shift) {
    for (std::size_t e = 0; e < list.cause_clock.size(); ++e) {
      std::uint64_t& time = list.cause_clock[e] == 1 ? list.cause_time[e] : list.effect_time[e];
      time += static_cast<std::uint64_t>(shift);
    }
  }
};

/// Centres a clock within what its edges allow from time to time: an alignment by edges alone may
/// lie anywhere between them.
class Centring {
 public:
  /// `inner`: edges in the times of the alignment.
  explicit Centring(Inner inner) : inner_(std::move(inner)) {
    std::ranges::stable_sort(inner_.lower, {}, &Limit::time);
    std::ranges::stable_sort(inner_.upper, {}, &Limit::time);
  }

  /// What is added to the clock's times; the identity if edges are too few. A clock that moves
  /// within windows shows their limits too close in the first pass. Errors: those of
  /// ClockMap::from_knots().
  Result<ClockMap> find() {
    ClockMap all;
    constexpr int k_passes = 3;
    for (int pass = 0; pass < k_passes; ++pass) {
      TRY_ASSIGN(const ClockMap step, ClockMap::from_knots(knots()));
      // Limits that contradict each other by more than their distance in time show nothing.
      if (step.is_identity() || !step.is_monotone()) break;
      TRY_ASSIGN(all, trace::composed(all, step));
      for (auto* limits : {&inner_.lower, &inner_.upper}) {
        for (Limit& one : *limits) {
          const std::int64_t before = one.time;
          one.time = step(static_cast<std::uint64_t>(before));
          one.ticks -= one.time - before;
        }
      }
    }
    return all;
  }

  /// True if windows leave more room than all edges together do, by more than limits vary: the
  /// clock moves, even where a constant meets the edges.
  [[nodiscard]] bool moves() const {
    const auto [all, below, above] = limits_of_windows();
    if (all.size() < 2) return false;
    std::vector<std::int64_t> widths;
    for (const Window& one : all) widths.push_back(one.high - one.low);
    const auto middle = widths.begin() + static_cast<std::ptrdiff_t>(widths.size() / 2);
    std::ranges::nth_element(widths, middle);
    const auto room = static_cast<double>(*middle - (inner_.most() - inner_.least()));
    return room > 2 * (below + above);
  }

 private:
  /// The limits between two times: positions in Inner::lower and Inner::upper.
  struct Window {
    std::size_t low_begin = 0, low_end = 0, high_begin = 0, high_end = 0;
    std::int64_t low = 0, high = 0;  ///< the limits
  };
  static constexpr std::size_t k_least = 4;  ///< limits of each side that make a window

  /// Windows one after the other, each as short as it can be.
  [[nodiscard]] std::vector<Window> windows() const {
    std::vector<Window> found;
    std::size_t l = 0, h = 0;
    while (inner_.lower.size() - l >= k_least && inner_.upper.size() - h >= k_least) {
      Window window{.low_begin = l, .high_begin = h};
      const std::int64_t end =
          std::max(inner_.lower[l + k_least - 1].time, inner_.upper[h + k_least - 1].time);
      l += k_least, h += k_least;
      while (l < inner_.lower.size() && inner_.lower[l].time <= end) ++l;
      while (h < inner_.upper.size() && inner_.upper[h].time <= end) ++h;
      window.low_end = l, window.high_end = h;
      found.push_back(window);
    }
    if (!found.empty()) {
      found.back().low_end = inner_.lower.size(), found.back().high_end = inner_.upper.size();
    }
    return found;
  }

  struct Limits {
    std::vector<Window> windows;
    double below = 0, above = 0;  ///< spreads of the others beside those of their windows
  };
  [[nodiscard]] Limits limits_of_windows() const {
    Limits found{.windows = windows()};
    std::vector<std::int64_t> below, above;
    for (Window& one : found.windows) {
      const auto lower =
          std::span(inner_.lower).subspan(one.low_begin, one.low_end - one.low_begin);
      const auto upper =
          std::span(inner_.upper).subspan(one.high_begin, one.high_end - one.high_begin);
      const auto low = std::ranges::max_element(lower, {}, &Limit::ticks);
      const auto high = std::ranges::min_element(upper, {}, &Limit::ticks);
      one.low = low->ticks, one.high = high->ticks;
      for (auto l = lower.begin(); l != lower.end(); ++l) {
        if (l != low) below.push_back(one.low - l->ticks);
      }
      for (auto h = upper.begin(); h != upper.end(); ++h) {
        if (h != high) above.push_back(h->ticks - one.high);
      }
    }
    found.below = spread(std::move(below)), found.above = spread(std::move(above));
    return found;
  }

  /// Also where a clock moves so much within a window that no constant meets the limits.
  [[nodiscard]] std::vector<ClockKnot> knots() const {
    const Limits limits = limits_of_windows();
    const double share = likely_share(limits.below, limits.above);
    std::vector<ClockKnot> knots;
    for (const Window& one : limits.windows) {
      const std::int64_t middle = inner_.upper[(one.high_begin + one.high_end) / 2].time;
      const auto local = static_cast<std::uint64_t>(std::max<std::int64_t>(0, middle));
      if (!knots.empty() && local <= knots.back().local) continue;
      const auto width = static_cast<double>(one.high - one.low);
      knots.push_back({local, one.low + std::llround(share * width)});
    }
    if (knots.size() < 2) knots.clear();
    return knots;
  }

  Inner inner_;
};

/// A time at which a clock was set.
struct SetClock {
  std::uint64_t before = 0, after = 0;  ///< last time of the clock before, first one after
  std::int64_t size = 0;                ///< what is added more to its times afterwards
};

/// Finds where the limits of a clock change faster than rates of crystals do.
class SetSearch {
 public:
  explicit SetSearch(const tables::EdgeList& list) {
    for (std::size_t e = 0; e < list.cause_clock.size(); ++e) {
      const bool is_upper = list.cause_clock[e] == 1;
      const auto host =
          static_cast<std::int64_t>(is_upper ? list.effect_time[e] : list.cause_time[e]);
      const auto own =
          static_cast<std::int64_t>(is_upper ? list.cause_time[e] : list.effect_time[e]);
      all_.push_back({host, own, is_upper});
    }
    std::ranges::stable_sort(all_, {}, &Tie::host);
    rate_ = k_crystals + std::abs(slope());
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
  struct Tie {
    std::int64_t host = 0, own = 0;
    bool is_upper = false;
    [[nodiscard]] std::int64_t ticks() const { return host - own; }
  };
  static constexpr double k_crystals = 200e-6;  ///< rates of two crystals of 100 ppm each
  static constexpr std::size_t k_least = 4;     ///< ties of each kind on either side
  static constexpr std::size_t k_most = 256;    ///< ties that are looked at for these

  /// What ties on one side of a time allow there, at that rate.
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

  /// What ties before and after number i allow.
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

  /// By the first and the last quarter of the ties.
  [[nodiscard]] double slope() const {
    const std::size_t quarter = all_.size() / 4;
    if (quarter == 0) return 0;
    const auto mean = [&](std::size_t first) {
      double time = 0, ticks = 0;
      for (std::size_t k = first; k < first + quarter; ++k) {
        time += static_cast<double>(all_[k].host - all_.front().host);
        ticks += static_cast<double>(all_[k].ticks() - all_.front().ticks());
      }
      return std::pair(time, ticks);
    };
    const auto [t0, y0] = mean(0);
    const auto [t1, y1] = mean(all_.size() - quarter);
    return t1 > t0 ? (y1 - y0) / (t1 - t0) : 0;
  }

  std::vector<Tie> all_;
  double rate_ = k_crystals;
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
      const bool is_constant = inner.least() <= inner.most();
      if (shift == 0 && is_constant) continue;
      result_.apart.push_back(clocks_.clocks[c].name);
      if (!is_constant) TRY(undo_steps(c, inner));
      const ClockMap level = result_.inner[c];
      result_.inner[c] = level.shifted(inner.shift());
      if (inner.least() > inner.most()) {
        TRY(follow_carrier(c, inner, align_group));
      } else if (Centring centring(inner); centring.moves()) {
        TRY_ASSIGN(const ClockMap centre, centring.find());
        TRY_ASSIGN(result_.inner[c], trace::composed(level, centre));
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
    for (const SetClock& set : SetSearch(inner.list).find()) {
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
    TRY_ASSIGN(const ClockMap centre, Centring(aligned).find());
    const bool has_both = !aligned.lower.empty() && !aligned.upper.empty();
    if (!centre.is_identity()) {
      TRY_ASSIGN(result_.inner[c], trace::composed(result_.inner[c], centre));
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
    tables::EdgeList& list = result_.list;
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

/// Work that a carrier has launched.
struct LaunchedWork {
  std::int64_t launch = 0;  ///< time of the carrier
  std::int64_t late = 0;    ///< ticks from its launch to its begin
};

/// Steps of a carrier, which may be those of its work alone.
class StepsOfWork {
 public:
  /// `host`: position of the carrier among all clocks. `steps`: its steps, in order of time.
  StepsOfWork(std::uint32_t host, const CarriedClocks& carried, const Edges& edges,
              std::vector<ClockExplanation*> steps)
      : steps_(std::move(steps)) {
    for (std::size_t e = 0; e < edges.cause_clock.size(); ++e) {
      const std::uint32_t effect = edges.effect_clock[e];
      if (edges.cause_clock[e] != host || carried.carrier[effect] != carried.carrier[host])
        continue;
      const auto launch = static_cast<std::int64_t>(edges.cause_time[e]);
      work_.push_back({launch, carried.inner[effect](edges.effect_time[e]) - launch});
    }
    std::ranges::stable_sort(work_, {}, &LaunchedWork::launch);
    std::int64_t ahead = 0, least = 0, most = 0;
    for (const ClockExplanation* step : steps_) {
      ahead += *step->size_ticks;
      least = std::min(least, ahead), most = std::max(most, ahead);
    }
    if (work_.empty()) return;
    std::vector<std::int64_t> late;
    for (const LaunchedWork& one : work_) late.push_back(one.late);
    const auto middle = late.begin() + static_cast<std::ptrdiff_t>(late.size() / 2);
    std::ranges::nth_element(late, middle);
    margin_ = most - least + std::abs(*middle);
  }

  /// Keeps the steps of the work: the shortest of some times from launch to work on either side
  /// differ by the step rather than by nothing.
  const std::vector<ClockExplanation*>& find() {
    std::vector<ClockExplanation*> found;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      constexpr std::ptrdiff_t k_near = 8;  // works of each side: one of so many did not wait
      auto before = between(s), after = between(s + 1);
      if (before.empty() || after.empty()) continue;
      before = before.last(std::min<std::size_t>(k_near, before.size()));
      after = after.first(std::min<std::size_t>(k_near, after.size()));
      const std::int64_t change = std::ranges::min(after, {}, &LaunchedWork::late).late -
                                  std::ranges::min(before, {}, &LaunchedWork::late).late;
      if (std::abs(change - *steps_[s]->size_ticks) < std::abs(change)) found.push_back(steps_[s]);
    }
    return steps_ = std::move(found);
  }

  /// The time of the work by that of the carrier, which was not set: nothing begins before its
  /// launch. `map`: that of the work. Empty if steps would overlap.
  [[nodiscard]] std::optional<ClockMap> map_of_carrier(const StampRange& events,
                                                       const ClockMap& map) const {
    std::vector<std::int64_t> ahead{0};  // of the carrier, from each step on
    std::int64_t least = k_any;
    for (std::size_t s = 0; s <= steps_.size(); ++s) {
      for (const LaunchedWork& one : between(s)) least = std::min(least, one.late - ahead[s]);
      if (s < steps_.size()) ahead.push_back(ahead[s] + *steps_[s]->size_ticks);
    }
    if (least == k_any) return std::nullopt;
    std::vector<ClockKnot> knots{{events.first, ahead.front() + least}};
    const auto add = [&](std::uint64_t time, std::int64_t offset) {
      const std::uint64_t own = time - static_cast<std::uint64_t>(offset);
      const bool is_later = own > knots.back().local;
      if (is_later) knots.push_back({own, offset});
      return is_later;
    };
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      const auto after =
          std::ranges::lower_bound(map.knots(), *steps_[s]->time_ticks, {}, &ClockKnot::local);
      if (after == map.knots().end() || after == map.knots().begin()) return std::nullopt;
      if (!add((after - 1)->local, ahead[s] + least)) return std::nullopt;
      if (!add(after->local, ahead[s + 1] + least)) return std::nullopt;
    }
    if (events.last > knots.back().local) knots.push_back({events.last, ahead.back() + least});
    const auto result = ClockMap::from_knots(std::move(knots));
    return result ? std::optional(*result) : std::nullopt;
  }

 private:
  [[nodiscard]] std::int64_t time_of(std::size_t step) const {
    return static_cast<std::int64_t>(*steps_[step]->time_ticks);
  }
  /// Work that was surely launched before a step, and after the one before that.
  [[nodiscard]] std::span<const LaunchedWork> between(std::size_t step) const {
    const std::int64_t from = step == 0 ? -k_any : time_of(step - 1) + margin_;
    const std::int64_t to = step == steps_.size() ? k_any : time_of(step) - margin_;
    const auto first = std::ranges::lower_bound(work_, from, {}, &LaunchedWork::launch);
    const auto last = std::ranges::lower_bound(work_, to, {}, &LaunchedWork::launch);
    return first < last ? std::span(first, last) : std::span<const LaunchedWork>();
  }

  std::vector<ClockExplanation*> steps_;
  std::vector<LaunchedWork> work_;
  std::int64_t margin_ = 0;  ///< uncertainty of the times of steps, which are those of the work
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

void leave_steps_to_carried(CarriedClocks& carried, const Clocks& clocks, const Edges& edges,
                            std::span<const ClockMap> maps, std::vector<ClockExplanation>& told) {
  for (std::uint32_t c = 0; c < clocks.clocks.size(); ++c) {
    const std::uint32_t carrier = carried.carrier[c];
    const auto first = std::ranges::find(carried.carrier, carrier) - carried.carrier.begin();
    if (first != c || !clocks.clocks[c].events) continue;
    std::vector<ClockExplanation*> all;
    for (ClockExplanation& one : told) {
      if (one.kind == ExplanationKind::step && one.clocks.front() == clocks.clocks[c].name &&
          one.size_ticks) {
        all.push_back(&one);
      }
    }
    if (all.empty()) continue;
    std::ranges::sort(all, {}, [](const ClockExplanation* one) { return *one->time_ticks; });
    StepsOfWork of_work(c, carried, edges, std::move(all));
    const std::vector<ClockExplanation*>& steps = of_work.find();
    if (steps.empty()) continue;
    const auto map = of_work.map_of_carrier(*clocks.clocks[c].events, maps[carrier]);
    if (!map) continue;
    carried.inner[c] = *map;
    std::vector<std::string> names;
    for (std::uint32_t d = 0; d < clocks.clocks.size(); ++d) {
      if (d != c && carried.carrier[d] == carrier) names.push_back(clocks.clocks[d].name);
    }
    for (ClockExplanation* const step : steps) {
      const std::string before = fmt::format("the clock of {} ", step->clocks.front());
      step->clocks = names;
      const char* const whose = names.size() == 1 ? "the clock of" : "each clock of";
      step->text.replace(0, before.size(), fmt::format("{} {} ", whose, fmt::join(names, ", ")));
    }
  }
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
