// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/counters.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/flat_map.hpp"
#include "base/stray_times.hpp"
#include "formats/tables/steps.hpp"

namespace entrain::tables {
namespace {

/// An end of an edge at a clock that may wrap.
struct Sample {
  std::uint32_t other = 0;        ///< clock of the other end
  std::uint64_t other_time = 0;   ///< its stamp
  std::int64_t difference = 0;    ///< the same minus that of this end
  std::uint64_t* time = nullptr;  ///< this one
  std::int64_t wraps = 0;         ///< periods before it
};

/// A counter that starts anew at 2^bits.
struct Counter {
  std::uint64_t period = 0;  ///< ticks until then
  unsigned bits = 0;
  std::uint64_t ticks = 1;  ///< of one count
};

/// Evidence of the edges of a clock about a counter that wraps.
struct Finding {
  Counter counter{};
  std::vector<Sample> samples{};  ///< order: counted time
  double chance = 1;              ///< that other steps of a clock are so close to the period
  std::uint64_t longest = 0;      ///< ticks between the first and the last stamp of another clock
};

class Unwrapping {
 public:
  Unwrapping(EdgeList& list, Clocks& clocks, std::uint64_t unit, std::vector<std::string>& notes,
             std::vector<SetAside>& set_aside)
      : list_(list),
        clocks_(clocks),
        unit_(unit),
        notes_(notes),
        set_aside_(set_aside),
        wraps_(clocks.clocks.size()),
        none_(wraps_.size()) {
    std::vector<std::uint64_t> most(wraps_.size());
    for_ends(list, [&](std::uint32_t clock, std::uint64_t time, bool) {
      most[clock] = std::max(most[clock], time);
    });
    for (std::size_t c = 0; c < wraps_.size(); ++c) {
      const unsigned bits = clocks.clocks[c].wrap_bits;
      counters_.push_back(counters(bits, most[c], most[c] % unit == 0 ? unit : 1));
      std::uint64_t& least = periods_.emplace_back(0);
      for (const Counter& one : counters_.back()) {
        least = least == 0 ? one.period : std::min(least, one.period);
      }
      if (bits > 0 && counters_.back().empty()) {
        notes.push_back(fmt::format("clock {} shows stamps beyond its {} bits: they do not wrap",
                                    clocks.clocks[c].name, bits));
      }
    }
  }

  std::vector<Wrap> run() {
    std::vector<bool> suspected = suspects();
    for (;;) {
      std::optional<std::uint32_t> best;
      Finding finding;
      for (std::uint32_t c = 0; c < wraps_.size(); ++c) {
        if (!suspected[c]) continue;
        Finding found = find(c);
        if (found.samples.empty()) suspected[c] = false;
        if (!suspected[c] || (best && found.chance >= finding.chance)) continue;
        best = c;
        finding = std::move(found);
      }
      if (!best) {
        take_out(list_, none_);
        return std::move(wraps_);
      }
      repair(*best, finding);
      if (wraps_[*best].period > 0) suspected = suspects();
      suspected[*best] = false;
    }
  }

 private:
  /// Counters of the table's unit, or of usual widths in coarser ones, that can show all stamps up
  /// to `most`. Of a named width only that of the finest unit.
  static std::vector<Counter> counters(unsigned named, std::uint64_t most, std::uint64_t unit) {
    constexpr std::array<unsigned, 4> k_widths{16, 24, 32, 48};
    std::vector<Counter> all;
    for (const std::uint64_t coarser : {1U, 1'000U, 1'000'000U}) {
      const std::uint64_t ticks = unit * coarser;
      const unsigned bits = named > 0 ? named : static_cast<unsigned>(std::bit_width(most / ticks));
      const bool is_usual = coarser == 1 || (most % ticks == 0 &&
                                             (named > 0 || std::ranges::count(k_widths, bits) > 0));
      const Int128 period = (Int128{1} << bits) * ticks;
      const bool fits =
          period <= std::numeric_limits<std::int64_t>::max() / 4 && period > Int128{most};
      if (!is_usual || !fits) continue;
      all.push_back({static_cast<std::uint64_t>(period), bits, ticks});
      if (named > 0) break;
    }
    return all;
  }

  [[nodiscard]] bool is_named(std::uint32_t clock) const {
    return clocks_.clocks[clock].wrap_bits > 0;
  }
  [[nodiscard]] bool is_open(std::uint32_t clock) const {
    return is_named(clock) && wraps_[clock].period == 0;
  }

  /// Clocks whose edges with another one differ by half a period or more.
  std::vector<bool> suspects() {
    using Range = std::pair<std::int64_t, std::int64_t>;
    FlatMap<std::uint64_t, Range, IntegerHash> ranges;
    std::vector<bool> result(wraps_.size());
    for (std::size_t i = 0; i < list_.cause_clock.size(); ++i) {
      std::uint32_t a = list_.cause_clock[i], b = list_.effect_clock[i];
      if (a == b || (periods_[a] == 0 && periods_[b] == 0)) continue;
      auto difference = static_cast<std::int64_t>(list_.cause_time[i] - list_.effect_time[i]);
      if (a > b) std::swap(a, b), difference = -difference;
      Range& range =
          *ranges.insert(std::uint64_t{a} << 32 | b, Range(difference, difference)).first;
      range = {std::min(range.first, difference), std::max(range.second, difference)};
      const auto apart =
          static_cast<std::uint64_t>(range.second) - static_cast<std::uint64_t>(range.first);
      for (const std::uint32_t clock : {a, b}) {
        if (wraps_[clock].period == 0 && periods_[clock] > 0 && apart >= periods_[clock] / 2) {
          result[clock] = true;
        }
      }
    }
    return result;
  }

  /// The edges of a clock as first listed, each once.
  std::span<const std::size_t> edges_of(std::uint32_t clock) {
    if (edges_.empty()) {
      edges_.resize(wraps_.size());
      for (std::size_t i = 0; i < list_.cause_clock.size(); ++i) {
        const std::uint32_t from = list_.cause_clock[i], to = list_.effect_clock[i];
        edges_[from].push_back(i);
        if (to != from) edges_[to].push_back(i);
      }
    }
    return edges_[clock];
  }

  /// The finding about a clock; without samples if nothing says that it wraps.
  Finding find(std::uint32_t clock) {
    Finding best;
    for (const Counter& counter : counters_[clock]) {
      Finding found{.counter = counter};
      std::map<std::uint32_t, std::pair<std::uint64_t, std::uint64_t>> run;  // of each other clock
      const auto add = [&](std::uint32_t other, std::uint64_t other_time, std::uint64_t& time) {
        if (other == clock || is_open(other)) return;
        found.samples.push_back(
            {other, other_time, static_cast<std::int64_t>(other_time - time), &time});
        auto& [first, last] = run.try_emplace(other, other_time, other_time).first->second;
        first = std::min(first, other_time), last = std::max(last, other_time);
        found.longest = std::max(found.longest, last - first);
      };
      for (const std::size_t i : edges_of(clock)) {
        const std::uint32_t from = list_.cause_clock[i], to = list_.effect_clock[i];
        if (from == clock) add(to, list_.effect_time[i], list_.cause_time[i]);
        if (to == clock) add(from, list_.cause_time[i], list_.effect_time[i]);
      }
      const bool is_shown = measure(found, counter.period, is_named(clock));
      if (is_shown && (best.samples.empty() || found.chance < best.chance)) best = std::move(found);
    }
    return best;
  }

  /// Counts the wraps before each sample: with these the differences are as close as they can be.
  static bool measure(Finding& found, std::uint64_t period, bool named) {
    const auto p = static_cast<std::int64_t>(period);
    std::vector<std::int64_t> rests;
    for (const Sample& one : found.samples) {
      rests.push_back(static_cast<std::int64_t>(one.difference - floor_div(one.difference, p) * p));
    }
    std::sort(rests.begin(), rests.end());
    if (rests.empty()) return false;
    std::int64_t origin = rests.front(), widest = origin + p - rests.back();
    for (std::size_t i = 1; i < rests.size(); ++i) {
      if (rests[i] - rests[i - 1] <= widest) continue;
      widest = rests[i] - rests[i - 1];
      origin = rests[i];
    }
    std::set<std::int64_t> wraps;
    for (Sample& one : found.samples) {
      one.wraps = static_cast<std::int64_t>(floor_div(Int128{one.difference} - origin, p));
      wraps.insert(one.wraps);
    }
    // By chance, a difference is that close to a multiple of the period in a share `spread` of
    // cases.
    constexpr double k_most_spread = 0.5, k_most_chance = 1e-3;
    const double spread = static_cast<double>(p - widest + 1) / static_cast<double>(p);
    found.chance = std::pow(spread, static_cast<double>(wraps.size() - 1));
    const bool is_shown = spread < k_most_spread && (named || found.chance < k_most_chance);
    const auto most = static_cast<std::int64_t>(found.longest / period) + 2;  // in this run
    if (wraps.size() < 2 || !is_shown || *wraps.rbegin() - *wraps.begin() > most) return false;
    if (!named && !counts_on(found.samples)) return false;
    for (Sample& one : found.samples) one.wraps -= *wraps.begin();
    std::ranges::sort(found.samples, {},
                      [](const Sample& one) { return std::pair(one.wraps, *one.time); });
    return true;
  }

  /// True if wraps become more as the others go on. Single stamps that are no times, such as zeros,
  /// lie a period off, too, but the stamps after them do not.
  static bool counts_on(std::vector<Sample>& samples) {
    std::ranges::sort(samples, {},
                      [](const Sample& one) { return std::pair(one.other, one.other_time); });
    std::size_t falls = 0, rest = 0;  // rest: samples beside the usual count of their other clock
    for (std::size_t first = 0, end = 0; first < samples.size(); first = end) {
      std::map<std::int64_t, std::size_t> count;
      std::size_t most = 0;
      for (; end < samples.size() && samples[end].other == samples[first].other; ++end) {
        most = std::max(most, ++count[samples[end].wraps]);
        falls += end > first && samples[end].wraps < samples[end - 1].wraps ? 1 : 0;
      }
      rest += end - first - most;
    }
    // Messages that pass each other while it wraps make a fall or two each time.
    constexpr std::size_t k_least_stretch = 4;
    return falls * k_least_stretch <= rest;
  }

  /// Counts the stamps of a clock on, or notes why not.
  void repair(std::uint32_t clock, const Finding& found) {
    Clock& of = clocks_.clocks[clock];
    const std::uint64_t period = found.counter.period;
    const Sample &first = found.samples.front(), &last = found.samples.back();
    const bool repeats = last.wraps > 1 || *last.time >= *first.time;
    std::size_t ends = 0;
    for_ends(list_, [&](std::uint32_t one, std::uint64_t, bool) { ends += one == clock ? 1 : 0; });
    ends -= 2 * static_cast<std::size_t>(std::ranges::count_if(edges_of(clock), [&](std::size_t i) {
              return list_.cause_clock[i] == list_.effect_clock[i];
            }));
    const char* const why = !of.sessions.empty() || !of.flushes.empty()
                                ? "its measurements would need it, too"
                            : repeats && found.samples.size() != ends
                                ? "clocks that wrap themselves cannot say how often"
                                : nullptr;
    const std::string unit =
        found.counter.ticks == unit_ ? "" : fmt::format(" x {} ticks", found.counter.ticks);
    if (why != nullptr) {
      return set_aside(
          clock, fmt::format("the stamps of clock {} fall back by about 2^{}{}, so its counter "
                             "may wrap, but {}: its edges move no clock",
                             of.name, found.counter.bits, unit, why));
    }
    wraps_[clock] = {period, *first.time, repeats};
    notes_.push_back(fmt::format(
        "the counter of clock {} wraps at 2^{}{}, {} in this run: its stamps count on{}", of.name,
        found.counter.bits, unit, last.wraps == 1 ? "once" : fmt::format("{} times", last.wraps),
        repeats ? ", also in maps.csv" : ""));
    of.events.reset();
    if (repeats) {
      for (const Sample& one : found.samples) {
        *one.time += static_cast<std::uint64_t>(one.wraps) * period;
      }
      return;
    }
    for_ends(list_, [&](std::uint32_t one, std::uint64_t& time, bool) {
      if (one == clock) time = wraps_[clock].counted(time);
    });
  }

  /// Turns the edges of a clock into edges inside it, which are ignored; all its ends are taken out
  /// in the end.
  void set_aside(std::uint32_t clock, std::string reason) {
    std::uint64_t ends = 0;
    for_ends(list_, [&](std::uint32_t one, std::uint64_t, bool) { ends += one == clock ? 1 : 0; });
    for (std::size_t i = 0; i < list_.cause_clock.size(); ++i) {
      if (list_.cause_clock[i] != clock && list_.effect_clock[i] != clock) continue;
      list_.cause_clock[i] = list_.effect_clock[i] = clock;
      list_.cause_time[i] = list_.effect_time[i];
    }
    none_[clock] = {{0, k_no_time}};
    set_aside_.push_back({.kind = "counter_wraps",
                          .clock = clocks_.clocks[clock].name,
                          .records = ends,
                          .total = ends,
                          .is_decisive = true,
                          .reason = std::move(reason)});
  }

  EdgeList& list_;
  Clocks& clocks_;
  std::uint64_t unit_;
  std::vector<std::string>& notes_;
  std::vector<SetAside>& set_aside_;
  std::vector<Wrap> wraps_;
  StrayRanges none_;                             ///< all stamps of clocks that are set aside
  std::vector<std::vector<Counter>> counters_;   ///< those that each clock may have
  std::vector<std::uint64_t> periods_;           ///< shortest of each clock, ticks; 0: cannot wrap
  std::vector<std::vector<std::size_t>> edges_;  ///< see edges_of()
};

}  // namespace

std::vector<Wrap> count_on(EdgeList& list, Clocks& clocks, std::uint64_t unit,
                           std::vector<std::string>& notes, std::vector<SetAside>& set_aside) {
  return Unwrapping(list, clocks, unit, notes, set_aside).run();
}

void count_in_one_unit(EdgeList& list, const Clocks& clocks, std::span<const std::uint64_t> hz,
                       std::vector<Wrap>& wraps) {
  for (std::size_t c = 0; c < hz.size(); ++c) {
    if (hz[c] != 0) wraps[c] = {.run_hz = clocks.resolution_hz, .own_hz = hz[c]};
  }
  for_ends(list, [&](std::uint32_t clock, std::uint64_t& time, bool) {
    time = wraps[clock].counted(time);
  });
}

void move_to_ends_of_steps(EdgeList& list, const Clocks& clocks, std::uint64_t unit,
                           std::vector<std::string>& notes) {
  std::vector<Step> all(clocks.clocks.size(), Step(static_cast<double>(unit))),
      effects(clocks.clocks.size());
  for_ends(list, [&](std::uint32_t clock, std::uint64_t time, bool is_effect) {
    all[clock].add(time);
    if (is_effect) effects[clock].add(time);
  });
  std::map<std::uint64_t, std::vector<std::string>> clocks_of;
  std::vector<std::uint64_t> steps;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const std::uint64_t named = clocks.clocks[c].granule;
    steps.push_back(named > 0 && effects[c].has(named)
                        ? named
                        : std::max(all[c].learned(), effects[c].learned()));
    if (steps.back() > 1) clocks_of[steps.back()].push_back(clocks.clocks[c].name);
  }
  if (clocks_of.empty()) return;
  note_steps(clocks_of, clocks.resolution_hz, notes);
  for_ends(list, [&](std::uint32_t clock, std::uint64_t& time, bool is_effect) {
    constexpr std::uint64_t k_latest = std::numeric_limits<std::int64_t>::max();
    time = all[clock].nearest(time);
    if (is_effect) time = std::min(time + (steps[clock] - 1), k_latest);
  });
}

}  // namespace entrain::tables
