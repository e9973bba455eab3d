// SPDX-License-Identifier: BSD-3-Clause
#include "verify/tally.hpp"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace entrain::verify {

namespace {

using Side = std::span<const Moment>;

/// Counts numbers of a fixed set, and how many of those counted exceed a bound.
class FenwickTree {
 public:
  explicit FenwickTree(std::vector<std::int64_t> values) : values_(std::move(values)) {
    std::sort(values_.begin(), values_.end());
    sums_.assign(values_.size() + 1, 0);
  }

  void add(std::int64_t value) {
    ++total_;
    const auto at = std::lower_bound(values_.begin(), values_.end(), value) - values_.begin();
    for (auto i = static_cast<std::size_t>(at) + 1; i < sums_.size(); i += i & (~i + 1)) {
      ++sums_[i];
    }
  }

  [[nodiscard]] std::uint64_t above(std::int64_t bound) const {
    std::uint64_t not_above = 0;
    auto i = static_cast<std::size_t>(std::upper_bound(values_.begin(), values_.end(), bound) -
                                      values_.begin());
    for (; i > 0; i -= i & (~i + 1)) not_above += sums_[i];
    return total_ - not_above;
  }

 private:
  std::vector<std::int64_t> values_;  ///< sorted
  std::vector<std::uint64_t> sums_;
  std::uint64_t total_ = 0;
};

std::vector<std::int64_t> times_of(Side side) {
  std::vector<std::int64_t> times;
  times.reserve(side.size());
  for (const Moment& moment : side) times.push_back(moment.time);
  return times;
}

/// Pairs with receive - send < mu. Sides in order of rank if ordered.
std::uint64_t below(Side sends, Side receives, bool ordered, std::int64_t mu) {
  std::uint64_t found = 0;
  if (!ordered) {
    std::vector<std::int64_t> times = times_of(sends);
    std::sort(times.begin(), times.end());
    for (const Moment& receive : receives) {
      found += static_cast<std::uint64_t>(
          times.end() - std::upper_bound(times.begin(), times.end(), margin(receive.time, mu)));
    }
    return found;
  }
  FenwickTree begun(times_of(sends));
  auto send = sends.begin();
  for (const Moment& receive : receives) {
    for (; send != sends.end() && send->rank < receive.rank; ++send) begun.add(send->time);
    found += begun.above(margin(receive.time, mu));
  }
  return found;
}

/// Sum of below() over the groups of moments that share a key.
template <class Key>
std::uint64_t below_in_groups(Side sends, Side receives, bool ordered, std::int64_t mu, Key key) {
  std::vector<Moment> s(sends.begin(), sends.end());
  std::vector<Moment> r(receives.begin(), receives.end());
  const auto less = [&](const Moment& a, const Moment& b) { return key(a) < key(b); };
  std::stable_sort(s.begin(), s.end(), less);  // stable: the order of ranks stays
  std::stable_sort(r.begin(), r.end(), less);
  std::uint64_t found = 0;
  for (auto first = s.begin(); first != s.end();) {
    const auto last = std::upper_bound(first, s.end(), *first, less);
    const auto [r_first, r_last] = std::equal_range(r.begin(), r.end(), *first, less);
    if (r_first != r_last) found += below({first, last}, {r_first, r_last}, ordered, mu);
    first = last;
  }
  return found;
}

constexpr auto k_location = [](const Moment& m) { return m.event.location; };
constexpr auto k_process = [](const Moment& m) { return m.process; };
constexpr auto k_node = [](const Moment& m) { return m.node; };
constexpr auto k_process_on_node = [](const Moment& m) { return std::pair(m.process, m.node); };

/// below() with the mu of each pair's own class, by inclusion and exclusion.
std::uint64_t below_by_class(Side sends, Side receives, bool ordered, const MuTicks& mu) {
  const auto [mu_process, mu_node, mu_other] = mu;
  const auto groups = [&](std::int64_t ticks, auto key) {
    return below_in_groups(sends, receives, ordered, ticks, key);
  };
  if (mu_process == mu_other && mu_node == mu_other) {
    return below(sends, receives, ordered, mu_other) - groups(mu_other, k_location);
  }
  const std::uint64_t process = groups(mu_process, k_process) - groups(mu_process, k_location);
  const std::uint64_t node = groups(mu_node, k_node) - groups(mu_node, k_process_on_node);
  const std::uint64_t other = below(sends, receives, ordered, mu_other) +
                              groups(mu_other, k_process_on_node) - groups(mu_other, k_node) -
                              groups(mu_other, k_process);
  return process + node + other;
}

std::uint64_t number_of_pairs(Side sends, Side receives, bool ordered) {
  std::uint64_t pairs = 0;
  if (ordered) {
    std::size_t lower = 0;
    for (const Moment& receive : receives) {
      while (lower < sends.size() && sends[lower].rank < receive.rank) ++lower;
      pairs += lower;
    }
    return pairs;
  }
  pairs = std::uint64_t{sends.size()} * receives.size();
  auto send = sends.begin();
  for (const Moment& receive : receives) {
    while (send != sends.end() && send->event.location < receive.event.location) ++send;
    for (auto own = send; own != sends.end() && own->event.location == receive.event.location;
         ++own) {
      --pairs;
    }
  }
  return pairs;
}

std::int64_t latest(Side side) {
  return std::max_element(side.begin(), side.end(),
                          [](const Moment& a, const Moment& b) { return a.time < b.time; })
      ->time;
}

std::int64_t earliest(Side side) {
  return std::min_element(side.begin(), side.end(),
                          [](const Moment& a, const Moment& b) { return a.time < b.time; })
      ->time;
}

bool is_pair(const Moment& send, const Moment& receive, bool ordered,
             const std::vector<bool>& dropped) {
  if (send.event.location == receive.event.location) return false;
  if (ordered && send.rank >= receive.rank) return false;
  return send.component == k_none || send.component != receive.component ||
         !dropped[send.component];
}

}  // namespace

PairCounts& PairCounts::operator+=(const PairCounts& other) {
  count += other.count;
  violations += other.violations;
  below_latency += other.below_latency;
  return *this;
}

PairCounts& PairCounts::operator-=(const PairCounts& other) {
  count -= other.count;
  violations -= other.violations;
  below_latency -= other.below_latency;
  return *this;
}

PairCounts count_pairs(Side sends, Side receives, bool ordered, const MuTicks& mu) {
  PairCounts counts;
  if (sends.empty() || receives.empty()) return counts;
  counts.count = number_of_pairs(sends, receives, ordered);
  // Most instances of most traces are fine, which the two extremes show.
  const std::int64_t smallest = margin(earliest(receives), latest(sends));
  const std::int64_t largest_mu = *std::max_element(mu.begin(), mu.end());
  if (smallest >= 0 && smallest >= largest_mu) return counts;
  counts.violations = below_by_class(sends, receives, ordered, MuTicks{});
  counts.below_latency =
      largest_mu == 0 ? counts.violations : below_by_class(sends, receives, ordered, mu);
  return counts;
}

std::optional<WorstPair> worst_pair(Side sends, Side receives, bool ordered,
                                    const std::vector<bool>& dropped, std::int64_t limit) {
  if (sends.empty() || receives.empty()) return std::nullopt;
  if (margin(earliest(receives), latest(sends)) >= limit) return std::nullopt;
  const auto later = [&](std::size_t a, std::size_t b) { return sends[a].time > sends[b].time; };
  std::vector<std::size_t> latest_first(sends.size());
  std::iota(latest_first.begin(), latest_first.end(), std::size_t{0});
  std::stable_sort(latest_first.begin(), latest_first.end(), later);

  std::optional<WorstPair> worst;
  std::size_t lower = 0;  // ordered: sends of lower rank than the receive
  std::size_t best = latest_first.front();
  for (std::size_t r = 0; r < receives.size(); ++r) {
    const auto is_partner = [&](std::size_t s) {
      return is_pair(sends[s], receives[r], ordered, dropped);
    };
    if (ordered) {
      if (lower == 0) best = 0;
      for (; lower < sends.size() && sends[lower].rank < receives[r].rank; ++lower) {
        if (later(lower, best)) best = lower;
      }
    }
    // `best` bounds all partners from above; only if it is none itself they must be looked for.
    if (margin(receives[r].time, sends[best].time) >= limit) continue;
    std::size_t send = best;
    if (!is_partner(send)) {
      if (ordered && lower == 0) continue;
      const auto found = std::find_if(latest_first.begin(), latest_first.end(), is_partner);
      if (found == latest_first.end()) continue;
      send = *found;
    }
    const std::int64_t ticks = margin(receives[r].time, sends[send].time);
    if (ticks >= limit) continue;
    limit = ticks;
    worst = WorstPair{ticks, send, r};
  }
  return worst;
}

}  // namespace entrain::verify
