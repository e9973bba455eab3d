// SPDX-License-Identifier: BSD-3-Clause
#include "verify/pair_counts.hpp"

#include <algorithm>
#include <utility>

namespace entrain::verify {

namespace {

using Side = std::span<const Moment>;

/// Counts values of a fixed set, and the number of counted values above a bound.
class FenwickTree {
 public:
  explicit FenwickTree(std::vector<std::int64_t> values) : values_(std::move(values)) {
    std::ranges::sort(values_);
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

/// Number of pairs with receive - send < mu. Sides are sorted by rank if ordered.
std::uint64_t below(Side sends, Side receives, bool ordered, std::int64_t mu) {
  std::uint64_t found = 0;
  if (!ordered) {
    std::vector<std::int64_t> times = times_of(sends);
    std::ranges::sort(times);
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

/// Calls `use(sends, receives)` with the moments of each side that share a key.
template <class Key, class Use>
void for_each_group(Side sends, Side receives, Key key, Use use) {
  std::vector<Moment> s(sends.begin(), sends.end()), r(receives.begin(), receives.end());
  std::ranges::stable_sort(s, {}, key);  // stable: the order of a side stays
  std::ranges::stable_sort(r, {}, key);
  for (auto first = s.begin(), last = first; first != s.end(); first = last) {
    last = std::ranges::upper_bound(first, s.end(), key(*first), {}, key);
    const Side of_key(std::ranges::lower_bound(r, key(*first), {}, key),
                      std::ranges::upper_bound(r, key(*first), {}, key));
    if (!of_key.empty()) use(Side(first, last), of_key);
  }
}

/// Sum of below() over the groups of moments that share a key.
template <class Key>
std::uint64_t below_in_groups(Side sends, Side receives, bool ordered, std::int64_t mu, Key key) {
  std::uint64_t found = 0;
  for_each_group(sends, receives, key, [&](Side s, Side r) { found += below(s, r, ordered, mu); });
  return found;
}

constexpr auto k_location = [](const Moment& m) { return m.event.location; };
constexpr auto k_process = [](const Moment& m) { return m.process; };
constexpr auto k_machine = [](const Moment& m) { return m.machine; };
constexpr auto k_process_on_machine = [](const Moment& m) {
  return std::pair(m.process, m.machine);
};

/// below() with the mu of each pair's own class, by inclusion and exclusion.
std::uint64_t below_by_class(Side sends, Side receives, bool ordered, const MuTicks& mu) {
  const auto [mu_process, mu_machine, mu_other] = mu;
  const auto groups = [&](std::int64_t ticks, auto key) {
    return below_in_groups(sends, receives, ordered, ticks, key);
  };
  if (mu_process == mu_other && mu_machine == mu_other) {
    return below(sends, receives, ordered, mu_other) - groups(mu_other, k_location);
  }
  const std::uint64_t process = groups(mu_process, k_process) - groups(mu_process, k_location);
  const std::uint64_t machine =
      groups(mu_machine, k_machine) - groups(mu_machine, k_process_on_machine);
  const std::uint64_t other = below(sends, receives, ordered, mu_other) +
                              groups(mu_other, k_process_on_machine) - groups(mu_other, k_machine) -
                              groups(mu_other, k_process);
  return process + machine + other;
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

std::int64_t latest(Side side) { return std::ranges::max(side, {}, &Moment::time).time; }
std::int64_t earliest(Side side) { return std::ranges::min(side, {}, &Moment::time).time; }

/// Finds the latest of the first sends that is a partner of a given receive.
///
/// No partners are the send of the receive's own location and, in a dropped component, the sends of
/// the component. So the two latest sends suffice outside of dropped components.
class LatestSends {
 public:
  LatestSends(Side sends, const std::vector<bool>& dropped) : sends_(sends), dropped_(dropped) {}

  [[nodiscard]] bool all_added() const { return added_ == sends_.size(); }
  [[nodiscard]] const Moment& next() const { return sends_[added_]; }
  /// Adds the next send: of equal times the first one counts as the latest.
  void add() {
    const std::size_t send = added_++;
    if (!latest_ || sends_[send].time > sends_[*latest_].time) {
      second_ = std::exchange(latest_, send);
    } else if (!second_ || sends_[send].time > sends_[*second_].time) {
      second_ = send;
    }
  }

  /// Position of the latest partner; nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> partner_of(const Moment& receive) const {
    if (receive.component != k_none && dropped_[receive.component]) return search(receive);
    const bool own = latest_ && sends_[*latest_].event.location == receive.event.location;
    return own ? second_ : latest_;
  }

 private:
  [[nodiscard]] std::optional<std::size_t> search(const Moment& receive) const {
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < added_; ++i) {
      const Moment& send = sends_[i];
      if (send.event.location == receive.event.location || send.component == receive.component) {
        continue;
      }
      if (!found || send.time > sends_[*found].time) found = i;
    }
    return found;
  }

  Side sends_;
  const std::vector<bool>& dropped_;
  std::size_t added_ = 0;
  std::optional<std::size_t> latest_, second_;
};

}  // namespace

PairCounts count_pairs(Side sends, Side receives, bool ordered, const MuTicks& mu) {
  PairCounts counts;
  if (sends.empty() || receives.empty()) return counts;
  counts.count = number_of_pairs(sends, receives, ordered);
  // Most instances have no violation, which the two extremes show.
  const std::int64_t smallest = margin(earliest(receives), latest(sends));
  const std::int64_t largest_mu = *std::ranges::max_element(mu);
  if (smallest > 0 && smallest >= largest_mu) return counts;
  if (smallest < 0) counts.violations = below_by_class(sends, receives, ordered, MuTicks{});
  if (smallest <= 0) {
    counts.equal = below_by_class(sends, receives, ordered, MuTicks{1, 1, 1}) - counts.violations;
  }
  counts.below_latency =
      largest_mu == 0 ? counts.violations : below_by_class(sends, receives, ordered, mu);
  return counts;
}

PairCounts count_pairs_of_one_clock(Side sends, Side receives, bool ordered, const MuTicks& mu,
                                    std::span<const std::uint32_t> clock_of) {
  PairCounts counts;
  for_each_group(
      sends, receives, [&](const Moment& m) { return clock_of[m.event.location]; },
      [&](Side s, Side r) { counts += count_pairs(s, r, ordered, mu); });
  return counts;
}

namespace {

/// Calls `use` with the pair of every receive and its latest send.
template <class Use>
void for_each_deciding_pair(Side sends, Side receives, bool ordered,
                            const std::vector<bool>& dropped, Use use) {
  LatestSends seen(sends, dropped);
  for (std::size_t r = 0; r < receives.size(); ++r) {
    while (!seen.all_added() && (!ordered || seen.next().rank < receives[r].rank)) seen.add();
    if (const auto send = seen.partner_of(receives[r])) {
      use(WorstPair{margin(receives[r].time, sends[*send].time), *send, r});
    }
  }
}

}  // namespace

std::optional<WorstPair> worst_pair(Side sends, Side receives, bool ordered,
                                    const std::vector<bool>& dropped, std::int64_t limit) {
  if (sends.empty() || receives.empty()) return std::nullopt;
  if (margin(earliest(receives), latest(sends)) > limit) return std::nullopt;
  std::optional<WorstPair> worst;
  for_each_deciding_pair(sends, receives, ordered, dropped, [&](const WorstPair& pair) {
    if (pair.margin_ticks > limit || (worst && pair.margin_ticks == limit)) return;
    limit = pair.margin_ticks;
    worst = pair;
  });
  return worst;
}

void deciding_pairs(Side sends, Side receives, bool ordered, const std::vector<bool>& dropped,
                    std::vector<WorstPair>& pairs) {
  pairs.clear();
  for_each_deciding_pair(sends, receives, ordered, dropped,
                         [&](const WorstPair& pair) { pairs.push_back(pair); });
}

}  // namespace entrain::verify
