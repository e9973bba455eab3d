// SPDX-License-Identifier: BSD-3-Clause
#include "match/ends.hpp"

#include <bit>

#include "trace/recorded_clock.hpp"

namespace entrain::match {

namespace {

/// Cost model of an alignment, bits unless stated; chosen, not measured one by one. Their joint
/// effect is bounded by tests/incomplete/pairs_test.cpp.
struct Cost {
  static constexpr int loss = 16;  ///< stretch of unpaired ends of one side
  static constexpr int both = 6;   ///< every two ends, one of each side, unpaired at one place
  static constexpr int late = 12;  ///< most for a delay above the median; twice that for one below
  static constexpr int full_history = 6;  ///< delays; with fewer before, `late` shrinks
  static constexpr std::array shift = {0, 6, 14, 18, 20, 22};  ///< change by 0, 1, ...
  static constexpr int regular_delay = 6;              ///< most for the delay of a regular pair
  static constexpr std::int32_t samples = 2048;        ///< most changes of delays measured
  static constexpr std::size_t scale_percentile = 97;  ///< percentile of these that is the scale
};

int shift_cost(std::int64_t change) {
  constexpr auto& costs = Cost::shift;
  return costs[std::min<std::uint64_t>(magnitude(change), costs.size() - 1)];
}

int both_cost(std::int32_t sends, std::int32_t receives) {
  constexpr int both = Cost::both;
  return both * std::min({sends, receives, k_never / (8 * both)});
}

}  // namespace

void Delays::add(std::int64_t delay, std::uint64_t time) {
  int hole = count_;
  if (count_ == int{k_most}) {
    const std::int64_t oldest = latest_[next_];
    hole = 0;
    while (sorted_[hole] != oldest) ++hole;
  } else {
    ++count_;
  }
  latest_[next_] = delay;
  times_[next_] = time;
  next_ = (next_ + 1) % int{k_most};
  for (; hole > 0 && sorted_[hole - 1] > delay; --hole) sorted_[hole] = sorted_[hole - 1];
  for (; hole + 1 < count_ && sorted_[hole + 1] < delay; ++hole) {
    sorted_[hole] = sorted_[hole + 1];
  }
  sorted_[hole] = delay;
}

Ends::Ends(const Side& sends, const Side& receives)
    : sends_(sends),
      receives_(receives),
      send_gaps_(gaps_before(sends.records)),
      receive_gaps_(gaps_before(receives.records)) {}

std::vector<std::uint32_t> Ends::gaps_before(std::span<const EndRecord> records) {
  if (std::ranges::none_of(records, [](const EndRecord& t) { return t.after_gap; })) {
    return {};
  }
  std::vector<std::uint32_t> gaps;
  gaps.reserve(records.size() + 1);
  gaps.push_back(0);
  for (const EndRecord& record : records) gaps.push_back(gaps.back() + (record.after_gap ? 1 : 0));
  return gaps;
}

/// Returns the usual change of delays from one pair to the next (97th percentile), measured with
/// sends and receives paired in order, with none or some skipped at the begin: of these
/// alignments, the one that is right for the longest stretch changes least.
std::uint64_t Ends::find_scale() const {
  const std::int32_t surplus = send_count() - receive_count();
  std::uint64_t scale = ~std::uint64_t{0};
  for (const std::int32_t ahead : {0, 1, 2, -1, -2, surplus}) {
    scale = std::min(scale, usual_change(std::max(ahead, 0), std::max(-ahead, 0)));
  }
  return std::max<std::uint64_t>(scale, 1);
}

/// Usual change if end `send` + k and end `receive` + k are pairs.
std::uint64_t Ends::usual_change(std::int32_t send, std::int32_t receive) const {
  const std::int32_t count = std::min(send_count() - send, receive_count() - receive) - 1;
  if (count < 1) return ~std::uint64_t{0};
  const std::int32_t samples = std::min(count, Cost::samples);
  std::vector<std::uint64_t> changes(static_cast<std::size_t>(samples));
  for (std::int32_t i = 0; i < samples; ++i) {
    const auto k = static_cast<std::int32_t>(1 + std::int64_t{i} * count / samples);
    changes[static_cast<std::size_t>(i)] =
        magnitude(difference(delay(send + k, receive + k), delay(send + k - 1, receive + k - 1)));
  }
  const auto place = changes.begin() + static_cast<std::ptrdiff_t>((changes.size() - 1) *
                                                                   Cost::scale_percentile / 100);
  std::nth_element(changes.begin(), place, changes.end());
  return *place;
}

int Ends::delay_cost(const Delays& before, std::int32_t send, std::int32_t receive) const {
  if (before.count() == 0) return 0;
  const int most = before.count() >= Cost::full_history ? Cost::late : 2 * before.count();
  const std::int64_t late = difference(delay(send, receive), before.median());
  if (scale_ == 0) scale_ = find_scale();
  const std::uint64_t drift = before.since(sends_.records[send].time) / trace::k_ticks_per_tick_off;
  if (magnitude(late) < scale_ + drift) return 0;
  const auto bits = static_cast<int>(std::bit_width(magnitude(late) / (scale_ + drift)));
  return late < 0 ? std::min(2 * most, 3 * bits) : std::min(most, 2 * bits);
}

int Ends::gap_cost(const Pair& from, std::int32_t send, std::int32_t receive,
                   std::int64_t shift) const {
  const bool of_sends = send_gap(from.send, send);
  const bool of_receives = receive_gap(from.receive, receive);
  int cost = 0;
  if (send > from.send + 1 && !of_receives) cost += Cost::loss;
  if (receive > from.receive + 1 && !of_sends) cost += Cost::loss;
  if (of_sends || of_receives) return cost;
  return cost + shift_cost(shift - from.shift) +
         both_cost(send - from.send - 1, receive - from.receive - 1);
}

bool Ends::is_regular(const Pair& from, const Delays& before) const {
  const std::int32_t send = from.send + 1, receive = from.receive + 1;
  if (send >= send_count() || receive >= receive_count()) return false;
  return may_pair(send, receive) && shift(send, receive) == from.shift &&
         delay_cost(before, send, receive) <= Cost::regular_delay &&
         !sends_.records[send].after_gap && !receives_.records[receive].after_gap;
}

void count_unpaired(const Ends& ends, const IndexPairs& pairs, Alignment& alignment) {
  std::int32_t send = -1, receive = -1;
  const auto count_until = [&](std::int32_t next_send, std::int32_t next_receive) {
    const auto sends_without = static_cast<std::uint64_t>(next_send - send - 1);
    const auto receives_without = static_cast<std::uint64_t>(next_receive - receive - 1);
    (ends.receive_gap(receive, next_receive) ? alignment.sends_in_gaps : alignment.lost) +=
        sends_without;
    (ends.send_gap(send, next_send) ? alignment.receives_in_gaps : alignment.lost) +=
        receives_without;
    send = next_send;
    receive = next_receive;
  };
  for (const auto& [next_send, next_receive] : pairs) {
    count_until(static_cast<std::int32_t>(next_send), static_cast<std::int32_t>(next_receive));
  }
  count_until(ends.send_count(), ends.receive_count());
}

void count_unpaired(const Side& sends, const Side& receives, Alignment& alignment) {
  count_unpaired(Ends(sends, receives), alignment.pairs, alignment);
  alignment.ambiguous -= std::min(alignment.ambiguous, alignment.in_gaps());
}

bool Ends::agree_in_order() const {
  const std::int32_t count = send_count();
  if (count != receive_count() || count == 0 || send_gap(-1, count) || receive_gap(-1, count)) {
    return false;
  }
  for (const Side* side : {&sends_, &receives_}) {
    const std::uint32_t others = side->records.back().position - side->records.front().position;
    if (others + 1 < static_cast<std::uint32_t>(count)) return false;
  }
  for (std::int32_t k = 0; k < count; ++k) {
    if (!may_pair(k, k) || shift(k, k) != shift(0, 0)) return false;
  }
  return true;
}

Alignment all_ambiguous(const Side& sends, const Side& receives) {
  Alignment unclear;
  const Ends ends(sends, receives);
  if (!ends.send_gap(-1, ends.send_count()) && !ends.receive_gap(-1, ends.receive_count())) {
    unclear.ambiguous = std::min(sends.records.size(), receives.records.size());
  }
  count_unpaired(ends, {}, unclear);
  return unclear;
}

}  // namespace entrain::match
