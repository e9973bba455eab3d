// SPDX-License-Identifier: BSD-3-Clause
#include "verify/pair_counts.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace entrain::verify {

namespace {

using Side = std::span<const Moment>;

/// Counts values of a fixed set, and the number of counted values above a bound.
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

/// Number of pairs with receive - send < mu. Sides are sorted by rank if ordered.
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

/// Finds the latest send so far that is a partner of a given receive.
///
/// The sends that are no partners: the send of the receive's own location, and all sends of its
/// dropped component. So it is enough to keep the two latest sends of the three groups that have
/// the latest ones, where a dropped component is a group and any other send is one by itself: take
/// away one group and one send, and the latest of the rest is still there.
class LatestSends {
 public:
  explicit LatestSends(const std::vector<bool>& dropped) : dropped_(dropped) {}

  /// Sends in order of position: of equal times the first one counts as the latest.
  void add(const Moment& send, std::size_t position) {
    const Entry entry{&send, position, group_of(send)};
    std::size_t at = size_;
    while (at > 0 && entries_[at - 1].send->time < send.time) --at;
    if (!worth_keeping(entry, at)) return;
    if (size_ == entries_.size()) --size_;
    std::move_backward(entries_.begin() + static_cast<std::ptrdiff_t>(at),
                       entries_.begin() + static_cast<std::ptrdiff_t>(size_),
                       entries_.begin() + static_cast<std::ptrdiff_t>(size_) + 1);
    entries_[at] = entry;
    ++size_;
    prune();
  }

  /// Position of the latest partner; nothing if there is none.
  [[nodiscard]] std::optional<std::size_t> partner_of(const Moment& receive) const {
    const std::uint64_t group = group_of(receive);
    for (std::size_t i = 0; i < size_; ++i) {
      const Entry& entry = entries_[i];
      if (entry.send->event.location == receive.event.location) continue;
      if (is_component(group) && entry.group == group) continue;
      return entry.position;
    }
    return std::nullopt;
  }

 private:
  struct Entry {
    const Moment* send = nullptr;
    std::size_t position = 0;
    std::uint64_t group = 0;
  };
  static constexpr std::uint64_t k_component = std::uint64_t{1} << 32;

  static bool is_component(std::uint64_t group) { return group >= k_component; }
  [[nodiscard]] std::uint64_t group_of(const Moment& m) const {
    const bool dropped = m.component != k_none && dropped_[m.component];
    return dropped ? k_component | m.component : m.event.location;
  }

  /// True if fewer than two sends of its group and fewer than three groups precede it.
  [[nodiscard]] bool worth_keeping(const Entry& entry, std::size_t at) const {
    std::size_t of_group = 0, others = 0;
    for (std::size_t i = 0; i < at; ++i) {
      if (entries_[i].group == entry.group) {
        ++of_group;
      } else if (is_first_of_group(i)) {
        ++others;
      }
    }
    return of_group < 2 && others < 3;
  }
  [[nodiscard]] bool is_first_of_group(std::size_t i) const {
    for (std::size_t j = 0; j < i; ++j) {
      if (entries_[j].group == entries_[i].group) return false;
    }
    return true;
  }
  /// Drops entries that the last addition made redundant.
  void prune() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < size_; ++i) {
      const Entry entry = entries_[i];
      if (worth_keeping(entry, kept)) entries_[kept++] = entry;
    }
    size_ = kept;
  }

  const std::vector<bool>& dropped_;
  std::array<Entry, 8> entries_{};  ///< latest first; six are enough
  std::size_t size_ = 0;
};

}  // namespace

PairCounts& PairCounts::operator+=(const PairCounts& other) {
  count += other.count;
  violations += other.violations;
  below_latency += other.below_latency;
  equal += other.equal;
  return *this;
}

PairCounts& PairCounts::operator-=(const PairCounts& other) {
  count -= other.count;
  violations -= other.violations;
  below_latency -= other.below_latency;
  equal -= other.equal;
  return *this;
}

PairCounts count_pairs(Side sends, Side receives, bool ordered, const MuTicks& mu) {
  PairCounts counts;
  if (sends.empty() || receives.empty()) return counts;
  counts.count = number_of_pairs(sends, receives, ordered);
  // Most instances have no violation, which the two extremes show.
  const std::int64_t smallest = margin(earliest(receives), latest(sends));
  const std::int64_t largest_mu = *std::max_element(mu.begin(), mu.end());
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
  const auto less = [&](const Moment& a, const Moment& b) {
    return clock_of[a.event.location] < clock_of[b.event.location];
  };
  std::vector<Moment> s(sends.begin(), sends.end()), r(receives.begin(), receives.end());
  std::stable_sort(s.begin(), s.end(), less);  // stable: the order of a side stays
  std::stable_sort(r.begin(), r.end(), less);
  PairCounts counts;
  for (auto first = s.begin(); first != s.end();) {
    const auto last = std::upper_bound(first, s.end(), *first, less);
    const auto [r_first, r_last] = std::equal_range(r.begin(), r.end(), *first, less);
    counts += count_pairs({first, last}, {r_first, r_last}, ordered, mu);
    first = last;
  }
  return counts;
}

namespace {

/// Calls `use` with the pair of every receive and its latest send.
template <class Use>
void for_each_deciding_pair(Side sends, Side receives, bool ordered,
                            const std::vector<bool>& dropped, Use use) {
  LatestSends seen(dropped);
  std::size_t next = 0;
  for (std::size_t r = 0; r < receives.size(); ++r) {
    while (next < sends.size() && (!ordered || sends[next].rank < receives[r].rank)) {
      seen.add(sends[next], next);
      ++next;
    }
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
