// SPDX-License-Identifier: BSD-3-Clause
#include "formats/tables/counters.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/edge_list.hpp"
#include "base/exact.hpp"
#include "base/flat_map.hpp"
#include "formats/tables/steps.hpp"

namespace entrain::tables {
namespace {

/// Calls use(clock, time, is_effect) for all ends of edges and members of instances.
template <class Use>
void for_ends(EdgeList& list, const Use& use) {
  for (std::size_t i = 0; i < list.cause_clock.size(); ++i) {
    use(list.cause_clock[i], list.cause_time[i], false);
    use(list.effect_clock[i], list.effect_time[i], true);
  }
  for (const CollectiveInstance& one : list.instances) {
    for (std::uint64_t m = 0; m < std::uint64_t{one.begins} + one.ends; ++m) {
      InstanceMember& member = list.members[one.first + m];
      use(member.clock, member.time, m >= one.begins);
    }
  }
}

/// An end of an edge at a clock that may wrap.
struct Sample {
  std::int64_t difference = 0;    ///< stamp of the other end minus that of this one
  std::uint64_t* time = nullptr;  ///< this one
  std::int64_t wraps = 0;         ///< periods before it
};

/// Evidence of the edges of a clock about a counter that wraps.
struct Finding {
  std::vector<Sample> samples{};  ///< order: counted time
  std::uint64_t spread = 0;       ///< spread of the differences, modulo the period
  std::uint64_t silence = 0;      ///< longest counted time without a stamp across a wrap
  bool meets = false;             ///< the differences before and after each wrap meet
};

class Unwrapping {
 public:
  Unwrapping(EdgeList& list, Clocks& clocks, std::uint64_t unit, std::vector<std::string>& notes)
      : list_(list), clocks_(clocks), notes_(notes), wraps_(clocks.clocks.size()) {
    std::vector<std::uint64_t> most(wraps_.size());
    for_ends(list, [&](std::uint32_t clock, std::uint64_t time, bool) {
      most[clock] = std::max(most[clock], time);
    });
    for (std::size_t c = 0; c < wraps_.size(); ++c) {
      const unsigned bits = clocks.clocks[c].wrap_bits;
      bits_.push_back(bits > 0 ? bits : static_cast<unsigned>(std::bit_width(most[c] / unit)));
      periods_.push_back(period_of(bits_.back(), unit, most[c]));
      if (bits > 0 && periods_.back() == 0) {
        notes.push_back(fmt::format("clock {} shows stamps beyond its {} bits: they do not wrap",
                                    clocks.clocks[c].name, bits));
      }
      in_other_units_.push_back(bits > 0 ? std::vector<OtherUnit>() : other_units(most[c], unit));
    }
  }

  std::vector<Wrap> run() {
    std::vector<bool> suspected = suspects();
    for (;;) {
      std::optional<std::uint32_t> best;
      Finding finding;
      for (std::uint32_t c = 0; c < wraps_.size(); ++c) {
        if (!suspected[c]) continue;
        Finding found = find(c, periods_[c]);
        if (found.samples.empty()) suspected[c] = false;
        if (!suspected[c] || (best && found.silence >= finding.silence)) continue;
        best = c;
        finding = std::move(found);
      }
      if (!best) {
        note_other_units();
        return std::move(wraps_);
      }
      repair(*best, finding);
      if (wraps_[*best].period > 0) suspected = suspects();
      suspected[*best] = false;
    }
  }

 private:
  /// Counts of so many ticks each, that start anew at 2^bits.
  struct OtherUnit {
    std::uint64_t ticks = 0, period = 0;
    unsigned bits = 0;
  };

  /// Ticks after which a counter starts anew; 0: too many to tell, or fewer than it shows.
  static std::uint64_t period_of(unsigned bits, std::uint64_t unit, std::uint64_t most) {
    const Int128 period = (Int128{1} << bits) * unit;
    const bool fits =
        period <= std::numeric_limits<std::int64_t>::max() / 4 && period > Int128{most};
    return fits ? static_cast<std::uint64_t>(period) : 0;
  }

  /// Counters of usual widths in coarser units, whose counts the table may tell in finer ones.
  static std::vector<OtherUnit> other_units(std::uint64_t most, std::uint64_t unit) {
    constexpr std::array<unsigned, 4> k_widths{16, 24, 32, 48};
    std::vector<OtherUnit> units;
    for (const std::uint64_t coarser : {1'000U, 1'000'000U}) {
      const std::uint64_t ticks = unit * coarser;
      const auto bits = static_cast<unsigned>(std::bit_width(most / ticks));
      const std::uint64_t period = period_of(bits, ticks, most);
      const bool is_usual = std::find(k_widths.begin(), k_widths.end(), bits) != k_widths.end();
      if (is_usual && period > 0) units.push_back({ticks, period, bits});
    }
    return units;
  }

  /// Names the clocks that seem to wrap, but not in counts of the table's unit.
  void note_other_units() {
    for (std::uint32_t c = 0; c < wraps_.size(); ++c) {
      if (wraps_[c].period > 0) continue;
      for (const OtherUnit& unit : in_other_units_[c]) {
        const Finding found = find(c, unit.period);
        if (found.samples.empty() || !found.meets) continue;
        notes_.push_back(fmt::format(
            "the stamps of clock {} fall back by about 2^{} x {} ticks, so its counter may wrap; "
            "they stay: the table tells its counts in a finer unit (see --unit)",
            clocks_.clocks[c].name, unit.bits, unit.ticks));
      }
    }
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

  /// The finding about a clock; without samples if nothing says that it wraps.
  Finding find(std::uint32_t clock, std::uint64_t period) {
    Finding found;
    const auto add = [&](std::uint32_t other, std::uint64_t other_time, std::uint64_t& time) {
      if (other == clock || is_open(other)) return;
      found.samples.push_back({static_cast<std::int64_t>(other_time - time), &time});
    };
    for (std::size_t i = 0; i < list_.cause_clock.size(); ++i) {
      const std::uint32_t from = list_.cause_clock[i], to = list_.effect_clock[i];
      if (from == clock) add(to, list_.effect_time[i], list_.cause_time[i]);
      if (to == clock) add(from, list_.cause_time[i], list_.effect_time[i]);
    }
    return measure(found, period, is_named(clock)) ? std::move(found) : Finding();
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
    found.spread = static_cast<std::uint64_t>(p - widest);
    // Other steps of a clock are as large as its period to within the spread only by chance.
    constexpr std::uint64_t k_chance = 64;
    if (found.spread > (named ? period / 2 : period / k_chance)) return false;
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> groups;  // range of differences
    for (Sample& one : found.samples) {
      one.wraps = static_cast<std::int64_t>(floor_div(Int128{one.difference} - origin, p));
      const std::int64_t rest = one.difference - one.wraps * p;
      auto& [low, high] = groups.try_emplace(one.wraps, rest, rest).first->second;
      low = std::min(low, rest), high = std::max(high, rest);
    }
    if (groups.size() < 2) return false;
    found.meets = meet(groups);
    count_from_first(found, period, groups.begin()->first);
    return true;
  }

  /// True if the distance of successive ranges is no more than the larger one is wide.
  static bool meet(const std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>>& groups) {
    return std::adjacent_find(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
             const auto& [low, high] = a.second;
             const auto& [next_low, next_high] = b.second;
             const std::int64_t apart = std::max(next_low - high, low - next_high);
             return apart > std::max(high - low, next_high - next_low);
           }) == groups.end();
  }

  static void count_from_first(Finding& found, std::uint64_t period, std::int64_t first) {
    std::vector<Sample>& samples = found.samples;
    for (Sample& one : samples) one.wraps -= first;
    std::sort(samples.begin(), samples.end(), [](const Sample& a, const Sample& b) {
      return std::pair(a.wraps, *a.time) < std::pair(b.wraps, *b.time);
    });
    for (std::size_t i = 1; i < samples.size(); ++i) {
      const Sample &a = samples[i - 1], &b = samples[i];
      if (a.wraps == b.wraps) continue;
      const Int128 silence = Int128{b.wraps - a.wraps} * period + *b.time - *a.time;
      found.silence = static_cast<std::uint64_t>(std::max<Int128>(found.silence, silence));
    }
  }

  /// Counts the stamps of a clock on, or notes why not.
  void repair(std::uint32_t clock, const Finding& found) {
    Clock& of = clocks_.clocks[clock];
    const std::uint64_t period = periods_[clock];
    const Sample &first = found.samples.front(), &last = found.samples.back();
    const bool repeats = last.wraps > 1 || *last.time >= *first.time;
    std::size_t ends = 0;
    for_ends(list_, [&](std::uint32_t one, std::uint64_t, bool) { ends += one == clock ? 1 : 0; });
    const char* const why =
        !is_named(clock) && !found.meets                  ? "the other clocks see another step"
        : !is_named(clock) && found.silence >= period / 2 ? "it is silent for too long"
        : !of.sessions.empty() || !of.flushes.empty()     ? "its measurements would need it, too"
        : repeats && found.samples.size() != ends
            ? "clocks that wrap themselves cannot say how often"
            : nullptr;
    if (why != nullptr) {
      notes_.push_back(fmt::format(
          "the stamps of clock {} fall back by about 2^{}, so its counter may wrap; they stay: {}",
          of.name, bits_[clock], why));
      return;
    }
    wraps_[clock] = {period, *first.time, repeats};
    notes_.push_back(fmt::format(
        "the counter of clock {} wraps at 2^{}, {} in this run: its stamps count on{}", of.name,
        bits_[clock], last.wraps == 1 ? "once" : fmt::format("{} times", last.wraps),
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

  EdgeList& list_;
  Clocks& clocks_;
  std::vector<std::string>& notes_;
  std::vector<Wrap> wraps_;
  std::vector<unsigned> bits_;                          ///< width of each counter; index: clock
  std::vector<std::uint64_t> periods_;                  ///< ticks; 0: cannot wrap
  std::vector<std::vector<OtherUnit>> in_other_units_;  ///< index: clock
};

}  // namespace

std::vector<Wrap> count_on(EdgeList& list, Clocks& clocks, std::uint64_t unit,
                           std::vector<std::string>& notes) {
  return Unwrapping(list, clocks, unit, notes).run();
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

void move_to_ends_of_steps(EdgeList& list, const Clocks& clocks, std::vector<std::string>& notes) {
  std::vector<Step> all(clocks.clocks.size()), effects(clocks.clocks.size());
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
    if (is_effect) time = std::min(time + (steps[clock] - 1), k_latest);
  });
}

}  // namespace entrain::tables
