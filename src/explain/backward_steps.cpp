// SPDX-License-Identifier: BSD-3-Clause
#include "explain/backward_steps.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <span>
#include <tuple>

namespace entrain::explain {

namespace {

// Chosen, not measured; tests: backward_steps_test.cpp.
constexpr std::size_t k_most_times = 4;  ///< that a clock is set back
constexpr std::size_t k_least_run = 4;   ///< stamps shown twice before, and as many after, a step
constexpr std::uint64_t k_level_share = 8;  ///< levels are apart by this share of the largest gap
constexpr std::size_t k_most_clocks = 64;   ///< that were set back: a table has few
constexpr std::size_t k_most_levels = 12;   ///< of noise there are more: then none counts

/// Number of epochs of which the kept stamps of a clock are: one more than times that it was set
/// back.
constexpr std::size_t k_most_epochs = k_most_times + 1;
constexpr std::uint8_t k_unknown = 0xFF;  ///< epoch of a stamp

/// Ends of edges: twice the number of the edge, one more for its effect.
struct Ends {
  const Edges& edges;
  [[nodiscard]] std::uint32_t clock(std::uint32_t end) const {
    return (end % 2 == 0 ? edges.cause_clock : edges.effect_clock)[end / 2];
  }
  [[nodiscard]] std::uint64_t stamp(std::uint32_t end) const {
    return (end % 2 == 0 ? edges.cause_time : edges.effect_time)[end / 2];
  }
};

/// Ends of a clock, all causes or all effects, whose other ends are at one other clock, in the
/// order of that one.
using Partner = std::span<const std::uint32_t>;

/// The epoch of each end of a partner, or k_unknown, and how often the clock was set back.
struct Epochs {
  std::vector<std::uint8_t> of;
  std::size_t times = 0;
};

class EpochsOfPartner {
 public:
  EpochsOfPartner(const Ends& ends, Partner partner) : ends_(ends), partner_(partner) {}

  /// The differences of both stamps have levels, as one clock was set now and then. Where the level
  /// rises, and stamps repeat, an epoch begins.
  Epochs find() {
    Epochs epochs{.of = std::vector<std::uint8_t>(partner_.size(), k_unknown), .times = 0};
    find_levels();
    find_runs();
    std::uint8_t epoch = 0;
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      if (r > 0 && is_backward(runs_[r - 1], runs_[r]) && ++epoch > k_most_times) return {};
      for (std::size_t i = runs_[r].first; i < runs_[r].end; ++i) {
        if (levels_[i] == runs_[r].level) epochs.of[i] = epoch;
      }
    }
    epochs.times = epoch;
    return epochs;
  }

 private:
  /// Ends of one level, and single ones of others among them.
  struct Run {
    std::size_t first = 0, end = 0, level = 0;
  };

  void find_levels() {
    std::vector<std::int64_t> differences, sorted, ends_of_levels;
    for (const std::uint32_t end : partner_) {
      differences.push_back(static_cast<std::int64_t>(ends_.stamp(end ^ 1U) - ends_.stamp(end)));
    }
    sorted = differences;
    std::ranges::sort(sorted);
    const auto gap = [&](std::size_t i) {  // below 2^64
      return static_cast<std::uint64_t>(sorted[i]) - static_cast<std::uint64_t>(sorted[i - 1]);
    };
    std::uint64_t largest = 0;
    for (std::size_t i = 1; i < sorted.size(); ++i) largest = std::max(largest, gap(i));
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (gap(i) > largest / k_level_share) ends_of_levels.push_back(sorted[i]);
    }
    if (ends_of_levels.size() >= k_most_levels) ends_of_levels.clear();
    for (const std::int64_t difference : differences) {
      levels_.push_back(static_cast<std::size_t>(
          std::ranges::upper_bound(ends_of_levels, difference) - ends_of_levels.begin()));
    }
  }
  void find_runs() {
    for (std::size_t i = 0, end = 0; i < levels_.size(); i = end) {
      while (end < levels_.size() && levels_[end] == levels_[i]) ++end;
      const bool goes_on = !runs_.empty() && runs_.back().level == levels_[i];
      if (goes_on) runs_.back().end = end;
      if (!goes_on && end - i >= k_least_run) runs_.push_back({i, end, levels_[i]});
    }
  }
  [[nodiscard]] bool is_backward(const Run& before, const Run& after) const {
    if (after.level < before.level) return false;
    std::vector<std::uint64_t> of_before = stamps(before), of_after = stamps(after);
    return of_before[of_before.size() - k_least_run] > of_after[k_least_run - 1];
  }
  /// Stamps of the clock, increasing.
  [[nodiscard]] std::vector<std::uint64_t> stamps(const Run& run) const {
    std::vector<std::uint64_t> all;
    for (std::size_t i = run.first; i < run.end; ++i) {
      if (levels_[i] == run.level) all.push_back(ends_.stamp(partner_[i]));
    }
    std::ranges::sort(all);
    return all;
  }

  const Ends& ends_;
  Partner partner_;
  std::vector<std::size_t> levels_;  ///< of each end
  std::vector<Run> runs_;
};

/// Of stamps in order the longest subsequence in order of epochs: which ones it has.
std::vector<bool> longest_in_order(std::span<const std::uint8_t> epochs) {
  std::array<std::size_t, k_most_epochs> length{};
  std::vector<std::array<std::uint8_t, k_most_epochs>> came_from(epochs.size());
  for (std::size_t i = 0; i < epochs.size(); ++i) {
    std::uint8_t best = 0;
    for (std::uint8_t e = 0; e < k_most_epochs; ++e) {
      if (length[e] > length[best]) best = e;
      came_from[i][e] = e;
      if (e != epochs[i]) continue;
      came_from[i][e] = best;
      length[e] = length[best] + 1;
    }
  }
  std::vector<bool> kept(epochs.size(), false);
  auto epoch = static_cast<std::uint8_t>(std::ranges::max_element(length) - length.begin());
  for (std::size_t i = epochs.size(); i-- > 0;) {
    kept[i] = epochs[i] == epoch;
    if (kept[i]) epoch = came_from[i][epoch];
  }
  return kept;
}

class Finder {
 public:
  Finder(std::size_t clocks, const Edges& edges)
      : ends_{edges},
        is_dropped_(edges.cause_clock.size(), false),
        order_(2 * is_dropped_.size()),
        first_(clocks + 1, 0) {
    std::iota(order_.begin(), order_.end(), 0U);
    std::ranges::sort(order_, {}, [&](std::uint32_t end) {
      return std::tuple(key(end), ends_.stamp(end ^ 1U), end);
    });
    count_ends();
    for (std::uint32_t c = 0; c < clocks; ++c) found_.push_back(find(c));
  }

  /// One by one: in the order of a clock that was set back, others seem to be set back.
  std::vector<BackwardStep> run() {
    std::vector<BackwardStep> all;
    while (all.size() < k_most_clocks && !found_.empty()) {
      const auto clearest = std::ranges::max_element(found_, {}, [](const Found& found) {
        return std::tuple(found.votes, k_most_times - found.step.times,
                          found.step.from - found.step.to);
      });
      if (clearest->votes == 0) break;
      all.push_back(std::exchange(*clearest, {}).step);
      const std::vector<std::uint32_t>& edges = all.back().edges;
      for (const std::uint32_t e : edges) is_dropped_[e] = true;
      std::erase_if(order_, [&](std::uint32_t end) { return is_dropped_[end / 2]; });
      count_ends();
      std::set<std::uint32_t> neighbours;
      for (const std::uint32_t e : edges) {
        neighbours.insert({ends_.clock(2 * e), ends_.clock(2 * e + 1)});
      }
      for (const BackwardStep& step : all) neighbours.erase(step.clock);
      for (const std::uint32_t c : neighbours) found_[c] = find(c);
    }
    return all;
  }

 private:
  struct Found {
    BackwardStep step{};
    std::size_t votes = 0;  ///< partners that show it; 0: there is none
  };
  struct Stamp {
    std::uint64_t stamp = 0;
    std::uint32_t end = 0;
    std::uint8_t epoch = 0;  ///< how often the clock was set back before it
  };

  /// What the ends of a partner share.
  [[nodiscard]] std::tuple<std::uint32_t, std::uint32_t, std::uint32_t> key(
      std::uint32_t end) const {
    return {ends_.clock(end), ends_.clock(end ^ 1U), end % 2};
  }

  /// Finds the first end of each clock in order_.
  void count_ends() {
    std::ranges::fill(first_, 0);
    for (const std::uint32_t end : order_) ++first_[ends_.clock(end) + 1];
    std::partial_sum(first_.begin(), first_.end(), first_.begin());
  }

  [[nodiscard]] Found find(std::uint32_t clock) const {
    const auto own = std::span(order_).subspan(first_[clock], first_[clock + 1] - first_[clock]);
    std::vector<Partner> partners;
    for (std::size_t i = 0, end = 0; i < own.size(); i = end) {
      while (end < own.size() && key(own[end]) == key(own[i])) ++end;
      partners.push_back(own.subspan(i, end - i));
    }
    // Partners with edges enough vote on the number of times.
    std::vector<Epochs> epochs;
    std::array<std::size_t, k_most_epochs> votes{};
    for (const Partner& partner : partners) {
      epochs.push_back(EpochsOfPartner(ends_, partner).find());
      if (partner.size() >= 2 * k_least_run) ++votes[epochs.back().times];
    }
    const auto times = static_cast<std::size_t>(std::ranges::max_element(votes) - votes.begin());
    const std::size_t all = std::accumulate(votes.begin(), votes.end(), std::size_t{0});
    if (times == 0 || 2 * votes[times] <= all) return {};
    std::vector<Stamp> known, unknown;
    for (std::size_t p = 0; p < partners.size(); ++p) {
      for (std::size_t i = 0; i < partners[p].size(); ++i) {
        const std::uint32_t end = partners[p][i];
        const std::uint8_t epoch = epochs[p].times == times ? epochs[p].of[i] : k_unknown;
        (epoch == k_unknown ? unknown : known).push_back({ends_.stamp(end), end, epoch});
      }
    }
    Found found{.step = in_order(times, known, unknown), .votes = votes[times]};
    found.step.clock = clock;
    return found;
  }

  /// A clock that was set back several times. Sorts `known`.
  static BackwardStep in_order(std::size_t times, std::vector<Stamp>& known,
                               std::span<const Stamp> unknown) {
    // A stamp that two epochs show is of one of them.
    std::ranges::sort(known, [](const Stamp& a, const Stamp& b) {
      return std::tuple(a.stamp, b.epoch) < std::tuple(b.stamp, a.epoch);
    });
    std::vector<std::uint8_t> epochs;
    std::array<StampRange, k_most_epochs> ranges;
    ranges.fill({~std::uint64_t{0}, 0});
    for (const Stamp& one : known) {
      epochs.push_back(one.epoch);
      StampRange& range = ranges[one.epoch];
      range = {std::min(range.first, one.stamp), std::max(range.last, one.stamp)};
    }
    const auto is_twice = [&](std::uint64_t stamp) {
      for (std::size_t e = 0; e < times; ++e) {
        if (stamp <= ranges[e].last && stamp >= ranges[e + 1].first) return true;
      }
      return false;
    };
    BackwardStep step;
    step.from = ranges[0].last, step.to = ranges[1].first;
    step.times = times;
    step.all = known.size() + unknown.size();
    const std::vector<bool> kept = longest_in_order(epochs);
    const Stamp* last = nullptr;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if (!kept[i]) {
        step.edges.push_back(known[i].end / 2);
        continue;
      }
      if (last != nullptr && last->epoch != known[i].epoch) {
        step.cuts.emplace_back(last->stamp, known[i].stamp);
      }
      last = &known[i];
    }
    for (const Stamp& one : unknown) {
      const auto next = static_cast<std::size_t>(
          std::ranges::upper_bound(known, one.stamp, {}, &Stamp::stamp) - known.begin());
      const auto is_sure = [&](std::size_t neighbour) {
        return kept[neighbour] && !is_twice(known[neighbour].stamp) &&
               known[neighbour].epoch == known[next == 0 ? 0 : next - 1].epoch;
      };
      if ((next > 0 && !is_sure(next - 1)) || (next < known.size() && !is_sure(next))) {
        step.edges.push_back(one.end / 2);
      }
    }
    std::ranges::sort(step.edges);
    return step;
  }

  Ends ends_;
  std::vector<bool> is_dropped_;      ///< index: edge
  std::vector<std::uint32_t> order_;  ///< ends by partner and its stamp, but for dropped edges
  std::vector<std::size_t> first_;    ///< first end of each clock in order_, and its end
  std::vector<Found> found_;          ///< index: clock
};

}  // namespace

std::vector<BackwardStep> find_backward_steps(std::size_t clocks, const Edges& edges) {
  return Finder(clocks, edges).run();
}

}  // namespace entrain::explain
