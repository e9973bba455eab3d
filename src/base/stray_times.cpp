// SPDX-License-Identifier: BSD-3-Clause
#include "base/stray_times.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace entrain {
namespace {

constexpr std::uint64_t k_least_calls = 3;   ///< fewer do not tell when a clock was set
constexpr std::uint64_t k_least_stamps = 8;  ///< fewer do not tell which stretch is the run
/// Stamps so far from all others are far, s: no run has such a pause. Explanations find nearer
/// ones.
constexpr std::uint64_t k_far_s = std::uint64_t{100} * 86'400;
/// Ticks, 104 days of nanoseconds: maps of clocks, which count in doubles, know no farther step.
constexpr std::uint64_t k_farthest_step = std::uint64_t{1} << 53;
constexpr std::array k_factors{1e3, 1e6, 1e9};

/// True if a clock counts seconds since 1970.
bool is_date(std::uint64_t time, std::uint64_t hz) {
  const double second = static_cast<double>(time) / static_cast<double>(hz);
  return second >= k_year_2000_s && second < k_year_2100_s;
}

/// Finds the stamps of a list that are no times of the run.
class StrayTimes {
 public:
  StrayTimes(const EdgeList& list, const Clocks& clocks, std::span<const std::uint64_t> hz,
             std::vector<SetAside>& set_aside)
      : list_(list),
        clocks_(clocks),
        hz_(hz),
        set_aside_(set_aside),
        none_(clocks.clocks.size(), {{k_no_time, k_no_time}}),
        stretches_(none_.size()),
        main_(none_.size()),
        counts_(none_.size()),
        votes_(none_.size()) {}

  StrayRanges find() {
    divide();
    find_far();
    find_units();
    return std::move(none_);
  }

 private:
  struct Tie {
    std::uint64_t time = 0, other_time = 0;
    std::uint32_t clock = 0, other = 0;
  };

  /// Calls visit(tie) for both directions of all edges and of neighbouring members of instances.
  template <class Visit>
  void for_ties(const Visit& visit) const {
    const auto both = [&](std::uint32_t a, std::uint64_t at, std::uint32_t b, std::uint64_t bt) {
      if (a == b || at == k_no_time || bt == k_no_time) return;
      visit(Tie{at, bt, a, b});
      visit(Tie{bt, at, b, a});
    };
    for (std::size_t i = 0; i < list_.cause_clock.size(); ++i) {
      both(list_.cause_clock[i], list_.cause_time[i], list_.effect_clock[i], list_.effect_time[i]);
    }
    for (const CollectiveInstance& one : list_.instances) {
      for (std::uint64_t m = 1; m < std::uint64_t{one.begins} + one.ends; ++m) {
        const InstanceMember &a = list_.members[one.first + m - 1],
                             &b = list_.members[one.first + m];
        both(a.clock, a.time, b.clock, b.time);
      }
    }
  }

  /// Finds the stretches of all clocks, and the largest ones; stamps without a time are in none.
  void divide() {
    std::vector<std::vector<std::uint64_t>> stamps(none_.size());
    for_ends(list_, [&](std::uint32_t clock, std::uint64_t time, bool) {
      ++counts_[clock];
      if (time != k_no_time) stamps[clock].push_back(time);
    });
    far_ = k_far_s * std::min(clocks_.resolution_hz, k_no_time / k_far_s);
    for (std::uint32_t c = 0; c < stamps.size(); ++c) {
      const std::uint64_t invalid = counts_[c] - stamps[c].size();
      if (invalid > 0) add("no_time", c, invalid, "a negative time, written without its sign");
      std::vector<Stretch>& own = stretches_[c];
      if (clocks_.clocks[c].wrap_bits != 0) {
        own = stretches_of(std::move(stamps[c]), k_no_time);
        continue;
      }
      // Zeros, of which some may be no times, have a stretch of their own.
      const auto zeros = static_cast<std::uint64_t>(std::ranges::count(stamps[c], 0U));
      const bool are_apart = zeros > 0 && zeros < stamps[c].size();
      if (are_apart) std::erase(stamps[c], 0U);
      own = stretches_of(std::move(stamps[c]), far_);
      if (are_apart) own.insert(own.begin(), {.count = zeros});
      // Zeros are no run, however many they are.
      const auto size = [](const Stretch& one) { return one.last == 0 ? 0 : one.count; };
      main_[c] = static_cast<std::size_t>(std::ranges::max_element(own, {}, size) - own.begin());
    }
  }

  [[nodiscard]] std::size_t stretch_of(std::uint32_t clock, std::uint64_t time) const {
    const auto next = std::ranges::upper_bound(stretches_[clock], time, {}, &Stretch::first);
    return static_cast<std::size_t>(next - stretches_[clock].begin()) - 1;
  }
  [[nodiscard]] bool is_main(std::uint32_t clock, std::uint64_t time) const {
    return stretch_of(clock, time) == main_[clock];
  }

  void find_far() {
    if (std::ranges::all_of(stretches_, [](const auto& own) { return own.size() == 1; })) return;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::int64_t>> usual;
    const auto distance = [](const Tie& tie) {
      return static_cast<std::int64_t>(tie.other_time - tie.time);
    };
    for_ties([&](const Tie& tie) {
      if (!is_main(tie.clock, tie.time) || !is_main(tie.other, tie.other_time)) return;
      usual[{tie.clock, tie.other}].push_back(distance(tie));
    });
    for (auto& [pair, distances] : usual) distances = {median(std::move(distances))};
    for_ties([&](const Tie& tie) {
      const std::size_t own = stretch_of(tie.clock, tie.time);
      if (own == main_[tie.clock]) return;
      const bool is_unset = tie.time == 0 && !is_main(tie.other, tie.other_time);
      const auto known = usual.find({tie.clock, tie.other});
      if (is_unset || known == usual.end()) return;
      const std::int64_t off = distance(tie) - known->second.front();
      // A zero is none of the run if the other clock says that it was later by half of what passed.
      const std::uint64_t far =
          tie.time == 0 ? std::min(stretches_[tie.clock][1].first, far_) : far_;
      const bool is_far = static_cast<std::uint64_t>(std::abs(off)) > far / 2;
      Stretch& stretch = stretches_[tie.clock][own];
      stretch.add_tie(tie.time, tie.other_time, is_far);
      if (is_far) stretch.distances.back() = static_cast<double>(off);  // whatever the pair's is
    });
    for (std::uint32_t c = 0; c < none_.size(); ++c) {
      const auto& stretches = stretches_[c];
      std::array<std::uint64_t, 2> lost{}, first{};  // of none of this run; of one that was set
      for (std::size_t s = 0; s < stretches.size(); ++s) {
        const Stretch &own = stretches[s], &main = stretches[main_[c]];
        const bool is_unset = own.last == 0 && own.ties == 0 && main.first > far_;
        if (s == main_[c] || main.count < k_least_stamps) continue;
        if (!own.is_displaced() && !is_unset) continue;
        const std::size_t was_set = own.is_of_one_clock() ? 1 : 0;
        const std::uint64_t gap = std::max(own.first, main.first) - std::min(own.last, main.last);
        if (was_set > 0 && gap <= k_farthest_step) continue;  // an explanation tells it
        if (lost[was_set] == 0) first[was_set] = own.first;
        lost[was_set] += own.count;
        none_[c].insert(none_[c].end() - 1, {own.first, own.last});
      }
      for (const std::size_t was_set : {0U, 1U}) {
        if (lost[was_set] == 0) continue;
        add("no_times_of_this_run", c, lost[was_set],
            fmt::format("times {} (the first is {})",
                        was_set > 0 ? "beyond a step of the clock that is too far for its map"
                                    : "that are none of this run",
                        first[was_set]));
        set_aside_.back().is_decisive |= was_set > 0;
      }
    }
  }

  /// Finds clocks of which most times pass faster or slower by a factor, the clearest one first:
  /// what ties others to it tells nothing of the others.
  void find_units() {
    count_votes();
    std::set<Suspect, std::greater<>> suspects;
    for (std::uint32_t c = 0; c < none_.size(); ++c) {
      if (const auto one = suspect_of(c)) suspects.insert(*one);
    }
    for (std::vector<bool> gone(none_.size()); !suspects.empty();) {
      const Suspect worst = *suspects.begin();
      const std::uint32_t clock = worst.clock();
      suspects.erase(suspects.begin());
      gone[clock] = true;
      none_[clock] = {{0, k_no_time}};
      add("wrong_unit", clock, counts_[clock],
          fmt::format(
              "times that pass {}: they count in another unit; give the clock its resolution",
              factor_text(std::pow(10, std::abs(worst.power)),
                          worst.power > 0 ? "slowly" : "fast")));
      for (auto pair = of_pairs_.lower_bound({clock, 0});
           pair != of_pairs_.end() && pair->first.first == clock; ++pair) {
        const std::uint32_t other = pair->first.second;
        if (gone[other]) continue;
        if (const auto before = suspect_of(other)) suspects.erase(*before);
        votes_[other].add(of_pairs_[{other, clock}], -1);
        if (const auto one = suspect_of(other)) suspects.insert(*one);
      }
    }
  }

  /// How often the times of a clock pass by a factor, as another one, or all, show it.
  struct Votes {
    std::map<int, std::uint64_t> of_power{};  ///< power of the factor
    std::uint64_t all = 0;

    void add(const Votes& other, int sign) {
      all += static_cast<std::uint64_t>(sign) * other.all;
      for (const auto& [power, count] : other.of_power)
        of_power[power] += static_cast<std::uint64_t>(sign) * count;
    }
  };
  /// A clock whose unit may be wrong, in order of how clear that is.
  struct Suspect {
    double share = 0;  ///< of the votes
    std::uint64_t votes = 0;
    bool is_no_date = false;
    std::uint32_t before = 0;  ///< ~ its number: of equal ones, the first clock
    int power = 0;

    auto operator<=>(const Suspect&) const = default;
    [[nodiscard]] std::uint32_t clock() const { return ~before; }
  };

  /// Compares times that pass at both ends of the edges of each pair, of some of many edges.
  void count_votes() {
    constexpr std::size_t k_most_edges = std::size_t{1} << 14;
    constexpr double k_error = 0.25;
    const std::size_t stride = list_.cause_clock.size() / k_most_edges + 1;
    std::vector<Tie> ties;
    std::size_t number = 0;
    for_ties([&](const Tie& tie) {
      if (number++ / 2 % stride == 0 && is_main(tie.clock, tie.time)) ties.push_back(tie);
    });
    std::ranges::sort(ties, {}, [](const Tie& tie) {
      return std::tuple(tie.clock, tie.other, tie.time, tie.other_time);
    });
    for (std::size_t first = 0, end = 0; first < ties.size(); first = end) {
      const Tie& own = ties[first];
      while (end < ties.size() && ties[end].clock == own.clock && ties[end].other == own.other)
        ++end;
      Votes& of = of_pairs_[{own.clock, own.other}];
      const double faster = hz_of(own.other) / hz_of(own.clock);
      // Of a quarter apart, few have a step of the clock between them.
      const std::size_t apart = std::max<std::size_t>((end - first) / 4, 1);
      for (std::size_t i = first, j = first + apart; j < end; ++i, ++j) {
        const double passed = faster * static_cast<double>(ties[j].time - ties[i].time);
        const auto there =
            static_cast<double>(ties[j].other_time) - static_cast<double>(ties[i].other_time);
        ++of.all;
        const bool is_slow = there >= passed;
        const auto factor = unit_factor(is_slow ? there / passed : passed / there, k_error);
        if (factor && passed > 0)
          ++of.of_power[(is_slow ? 1 : -1) * static_cast<int>(std::log10(*factor) + 0.5)];
      }
      votes_[own.clock].add(of, 1);
    }
  }

  [[nodiscard]] std::optional<Suspect> suspect_of(std::uint32_t clock) const {
    constexpr std::uint64_t k_least = 3;
    const Votes& own = votes_[clock];
    std::optional<Suspect> most;
    for (const auto& [power, count] : own.of_power) {
      if (count < k_least || 2 * count <= own.all) continue;
      const Suspect one{
          .share = static_cast<double>(count) / static_cast<double>(own.all),
          .votes = count,
          .is_no_date = !is_date(stretches_[clock][main_[clock]].first, clocks_.resolution_hz),
          .before = ~clock,
          .power = power};
      if (!most || *most < one) most = one;
    }
    return most;
  }

  void add(const char* kind, std::uint32_t clock, std::uint64_t count, const std::string& what) {
    const std::string& name = clocks_.clocks[clock].name;
    set_aside_.push_back(
        {.kind = kind,
         .clock = name,
         .records = count,
         .total = counts_[clock],
         .is_decisive = matters(count, counts_[clock]),
         .reason = fmt::format("{} of {} ends of edges of clock {} {} {}", count, counts_[clock],
                               name, count == 1 ? "has" : "have", what)});
  }

  /// Ticks per second in which a clock is known to count.
  [[nodiscard]] double hz_of(std::uint32_t clock) const {
    const bool is_known = clock < hz_.size() && hz_[clock] != 0;
    return static_cast<double>(is_known ? hz_[clock] : clocks_.resolution_hz);
  }

  const EdgeList& list_;
  const Clocks& clocks_;
  std::span<const std::uint64_t> hz_;
  std::vector<SetAside>& set_aside_;
  StrayRanges none_;
  std::vector<std::vector<Stretch>> stretches_;  ///< index: clock
  std::vector<std::size_t> main_;                ///< position of the largest stretch of each clock
  std::vector<std::uint64_t> counts_;            ///< ends at each clock
  std::uint64_t far_ = 0;                        ///< ticks
  std::vector<Votes> votes_;  ///< of the edges of each clock with others that are not gone
  std::map<std::pair<std::uint32_t, std::uint32_t>, Votes> of_pairs_;
};

}  // namespace

std::optional<double> unit_factor(double ratio, double error) {
  for (const double factor : k_factors) {
    if (std::abs(ratio / factor - 1) <= error) return factor;
  }
  return std::nullopt;
}

std::string factor_text(double factor, const char* how) {
  const char* const text = factor < 1e4 ? "1,000" : factor < 1e7 ? "1,000,000" : "1,000,000,000";
  return fmt::format("{} times too {}", text, how);
}

void Stretch::add_tie(std::uint64_t time, std::uint64_t other, bool is_far) {
  ++ties;
  if (!is_far) return;
  ++far, ++calls;
  const auto from = static_cast<double>(time), to = static_cast<double>(other);
  ratios.push_back(to / std::max(from, 1.0));
  others.push_back(to);
  distances.push_back(to - from);
}

bool Stretch::is_of_one_clock() const {
  constexpr double k_drift = 1e-3;
  if (calls < k_least_calls) return false;
  const auto range = [](const std::vector<double>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return *most - *least;
  };
  return range(distances) <=
         longest + std::max(k_drift * static_cast<double>(last - first), range(others) / 2);
}

std::vector<Stretch> stretches_of(std::vector<std::uint64_t> stamps, std::uint64_t far) {
  std::sort(stamps.begin(), stamps.end());
  std::vector<Stretch> all;
  for (const std::uint64_t time : stamps) {
    if (all.empty() || time - all.back().last > far) all.push_back({.first = time, .last = time});
    all.back().last = time;
    ++all.back().count;
  }
  if (all.empty()) all.emplace_back();
  return all;
}

bool is_in(const std::vector<StampRange>& ranges, std::uint64_t stamp) {
  const auto next = std::ranges::upper_bound(ranges, stamp, {}, &StampRange::first);
  return next != ranges.begin() && stamp <= (next - 1)->last;
}

StrayRanges take_stray_times(EdgeList& list, const Clocks& clocks,
                             std::span<const std::uint64_t> hz, std::vector<SetAside>& set_aside) {
  StrayRanges none = StrayTimes(list, clocks, hz, set_aside).find();
  if (!set_aside.empty()) take_out(list, none);
  return none;
}

void take_out(EdgeList& list, const StrayRanges& ranges) {
  std::vector<bool> is_stray(list.cause_clock.size());
  for (std::size_t i = 0; i < is_stray.size(); ++i) {
    is_stray[i] = is_in(ranges[list.cause_clock[i]], list.cause_time[i]) ||
                  is_in(ranges[list.effect_clock[i]], list.effect_time[i]);
  }
  const auto erase = [&](auto& values) {
    std::size_t left = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!is_stray[i]) values[left++] = values[i];
    }
    values.resize(left);
  };
  erase(list.cause_clock), erase(list.cause_time), erase(list.effect_clock);
  erase(list.effect_time), erase(list.min_delay), erase(list.kind);
  std::size_t left = 0;
  for (CollectiveInstance& one : list.instances) {
    const std::uint64_t from = std::exchange(one.first, left), begins = one.begins,
                        all = begins + one.ends;
    for (std::uint64_t m = 0; m < all; ++m) {
      const InstanceMember member = list.members[from + m];
      if (is_in(ranges[member.clock], member.time)) {
        --(m < begins ? one.begins : one.ends);
      } else {
        list.members[left++] = member;
      }
    }
  }
  list.members.resize(left);
}

}  // namespace entrain
