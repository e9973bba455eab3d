// SPDX-License-Identifier: BSD-3-Clause
#include "match/numbered_alignment.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "match/ends.hpp"

namespace entrain::match {

namespace {

/// Thresholds of the alignment by numbers; chosen, not measured one by one.
/// numbered_alignment_test.cpp exercises them, tests/incomplete/pairs_test.cpp bounds their effect.
struct NumberLimits {
  static constexpr std::uint32_t evidence = 18;  ///< least of both processes, bits
  static constexpr std::uint32_t few_kinds = 4;  ///< most kinds among which only delays differ
  static constexpr std::size_t level = 8;        ///< pairs whose median delay is a level
  static constexpr std::size_t margin = 2;       ///< uncertain pairs on each side of a cut
  static constexpr std::size_t window = 32;      ///< pairs whose median delay is compared
  static constexpr std::size_t near = 256;       ///< pairs of head and tail that confirm each other
  static constexpr std::size_t samples = 2048;   ///< most changes of level measured
  static constexpr std::size_t percentile = 97;  ///< percentile of these: the usual change
  static constexpr std::uint64_t jump = 4;       ///< usual changes that make a jump
  static constexpr std::uint64_t sharp = 8;      ///< delays are sharp: change <= spacing / 8
  static constexpr std::uint64_t alike = 4;      ///< delays are alike: difference <= spacing / 4
  static constexpr std::size_t disagreement = 50;  ///< least inverse share of other pairs
};

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using Delay = std::int64_t;

/// Returns the lower median of the delays of pairs [begin, begin + count).
template <std::size_t most>
Delay median(std::span<const Delay> delays, std::size_t begin, std::size_t count) {
  std::array<Delay, most> some{};
  std::copy_n(delays.begin() + static_cast<std::ptrdiff_t>(begin), count, some.begin());
  const auto place = some.begin() + static_cast<std::ptrdiff_t>((count - 1) / 2);
  std::nth_element(some.begin(), place, some.begin() + static_cast<std::ptrdiff_t>(count));
  return *place;
}

std::uint64_t distance(Delay a, Delay b) { return magnitude(difference(a, b)); }

/// Pairs of ends of equal numbers, counted from the begin or from the end.
class NumberPairs {
 public:
  NumberPairs(const NumberedSide& sends, const NumberedSide& receives, bool from_end)
      : sends_(sends), receives_(receives) {
    // Counted from the end, numbers are below 0.
    const auto number = [&](const NumberedSide& side, std::size_t k) {
      return std::int64_t{side.numbers[k]} - (from_end ? side.total : 0);
    };
    const std::size_t most = std::min(sends.numbers.size(), receives.numbers.size());
    pairs_.reserve(most);
    delays_.reserve(most);
    for (std::size_t i = 0, j = 0; i < sends.numbers.size() && j < receives.numbers.size();) {
      const std::int64_t ahead = number(sends, i) - number(receives, j);
      if (ahead == 0 && !sends.side.records[i].displaced && !receives.side.records[j].displaced) {
        pairs_.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
        delays_.push_back(difference(time(receives, j), time(sends, i)));
      }
      i += ahead <= 0 ? 1 : 0;
      j += ahead >= 0 ? 1 : 0;
    }
  }

  [[nodiscard]] const Pairs& pairs() const { return pairs_; }
  /// Mean distance of the sends of pairs [begin, end), ticks. Requires a pair.
  [[nodiscard]] std::uint64_t spacing(std::size_t begin, std::size_t end) const {
    return distance(time(sends_, pairs_[end - 1].first), time(sends_, pairs_[begin].first)) /
           (end - begin);
  }
  /// True if the levels of pairs [begin, end) change far less than their sends are apart.
  [[nodiscard]] bool is_sharp(std::size_t begin, std::size_t end) const {
    return begin + NumberLimits::window <= end &&
           usual_change(begin, end) <= spacing(begin, end) / NumberLimits::sharp;
  }
  /// Quartiles and lower median of delays.
  struct Quartiles {
    Delay lower = 0, median = 0, upper = 0;
  };
  [[nodiscard]] Quartiles quartiles(std::size_t begin, std::size_t end) const {
    std::vector<Delay> sorted(delays_.begin() + static_cast<std::ptrdiff_t>(begin),
                              delays_.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(sorted.begin(), sorted.end());
    return {sorted[sorted.size() / 4], sorted[(sorted.size() - 1) / 2],
            sorted[sorted.size() * 3 / 4]};
  }
  /// True if the quartiles of pairs [begin, end) are closer than their sends.
  [[nodiscard]] bool is_clear(std::size_t begin, std::size_t end) const {
    if (begin + NumberLimits::window > end) return false;
    const Quartiles found = quartiles(begin, end);
    return distance(found.upper, found.lower) <= spacing(begin, end) / NumberLimits::alike;
  }
  /// Pairs of equal symbols whose delay differs by at most `most` ticks from `delay`.
  [[nodiscard]] Pairs pairs_near(Delay delay, std::uint64_t most) const {
    Pairs near;
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      if (distance(delays_[k], delay) > most || !has_equal_symbols(k)) continue;
      near.push_back(pairs_[k]);
    }
    return near;
  }
  /// Median of 8 delays.
  [[nodiscard]] Delay level_from(std::size_t first) const {
    return median<NumberLimits::level>(delays_, first, NumberLimits::level);
  }
  /// Sorted pairs before which the numbers may have become wrong: after pauses in which some are
  /// missing, and at unequal symbols.
  [[nodiscard]] std::vector<std::size_t> cuts() const {
    std::vector<std::size_t> cuts;
    const std::vector<std::size_t> paused_sends = pauses(sends_, true, cuts);
    const std::vector<std::size_t> paused_receives = pauses(receives_, false, cuts);
    // If totals are equal, both sides miss equally many.
    if (sends_.total != receives_.total) cut_at_both(paused_sends, paused_receives, cuts);
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      if (!has_equal_symbols(k)) cuts.insert(cuts.end(), {k, k + 1});
    }
    std::sort(cuts.begin(), cuts.end());
    return cuts;
  }
  /// True if the delays of pairs [begin, end) jump to another level: other pairs are right there.
  [[nodiscard]] bool jumps(std::size_t begin, std::size_t end) const {
    constexpr std::size_t step = NumberLimits::window / 2;
    std::vector<Delay> levels;
    for (std::size_t k = begin; k + NumberLimits::window <= end; k += step) {
      levels.push_back(median<NumberLimits::window>(delays_, k, NumberLimits::window));
    }
    const std::uint64_t most = NumberLimits::jump * usual_change(begin, end);
    for (std::size_t k = 2; k < levels.size(); ++k) {
      if (distance(levels[k], levels[k - 2]) > most) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool has_equal_symbols(std::size_t k) const {
    return sends_.side.records[pairs_[k].first].symbol ==
           receives_.side.records[pairs_[k].second].symbol;
  }
  static Delay time(const NumberedSide& side, std::size_t k) {
    return static_cast<Delay>(side.side.records[k].time);
  }

  /// Usual change of level between adjacent groups of 8 pairs of [begin, end); at least 1 tick.
  [[nodiscard]] std::uint64_t usual_change(std::size_t begin, std::size_t end) const {
    if (begin + 2 * NumberLimits::level > end) return 1;
    const std::size_t places = end - begin - 2 * NumberLimits::level + 1;
    const std::size_t count = std::min(places, NumberLimits::samples);
    std::vector<std::uint64_t> changes(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t k = begin + i * places / count;
      changes[i] = distance(level_from(k + NumberLimits::level), level_from(k));
    }
    const auto place =
        changes.begin() + static_cast<std::ptrdiff_t>((count - 1) * NumberLimits::percentile / 100);
    std::nth_element(changes.begin(), place, changes.end());
    return std::max<std::uint64_t>(*place, 1);
  }

  /// Returns the first pairs after the pauses of a side. Adds those to `cuts` at which the level
  /// changes by half the pause or more, or that too few pairs surround.
  [[nodiscard]] std::vector<std::size_t> pauses(const NumberedSide& side, bool of_sends,
                                                std::vector<std::size_t>& cuts) const {
    std::vector<std::size_t> places;
    for (const Pause& pause : side.pauses) {
      if (pause.end == 0) continue;
      const auto found = std::partition_point(pairs_.begin(), pairs_.end(), [&](const auto& pair) {
        return (of_sends ? pair.first : pair.second) < pause.end;
      });
      const auto k = static_cast<std::size_t>(found - pairs_.begin());
      if (places.empty() || places.back() != k) places.push_back(k);
      const std::size_t before = std::min(k, NumberLimits::level);
      const std::size_t after = std::min(pairs_.size() - k, NumberLimits::level);
      if (2 * before < NumberLimits::level || 2 * after < NumberLimits::level ||
          distance(median<NumberLimits::level>(delays_, k, after),
                   median<NumberLimits::level>(delays_, k - before, before)) >= pause.length / 2) {
        cuts.push_back(k);
      }
    }
    return places;
  }

  /// Cuts where both processes pause, unless sharp and steady delays exclude a loss there.
  void cut_at_both(const std::vector<std::size_t>& paused_sends,
                   const std::vector<std::size_t>& paused_receives,
                   std::vector<std::size_t>& cuts) const {
    if (paused_sends.empty() || paused_receives.empty()) return;
    const bool sharp = is_sharp(0, pairs_.size());
    for (const std::size_t a : paused_sends) {
      const auto near = std::lower_bound(paused_receives.begin(), paused_receives.end(),
                                         a - std::min(a, NumberLimits::level));
      for (auto b = near; b != paused_receives.end() && *b <= a + NumberLimits::level; ++b) {
        const auto [first, second] = std::minmax(a, *b);
        if (!sharp || !steady_around(first, second)) cuts.insert(cuts.end(), {first, second});
      }
    }
  }

  /// True if the levels before pair `first` and from pair `second` on are alike.
  [[nodiscard]] bool steady_around(std::size_t first, std::size_t second) const {
    return first >= NumberLimits::level && second + NumberLimits::level <= pairs_.size() &&
           distance(level_from(second), level_from(first - NumberLimits::level)) <=
               spacing(0, pairs_.size()) / NumberLimits::alike;
  }

  const NumberedSide &sends_, &receives_;
  Pairs pairs_;
  std::vector<Delay> delays_;  ///< one per pair
};

class NumberAlignment {
 public:
  NumberAlignment(const NumberedSide& sends, const NumberedSide& receives)
      : sends_(sends), receives_(receives), ends_(sends.side, receives.side) {}

  std::optional<Alignment> run() {
    const bool open_begin =
        sends_.side.records.front().after_gap || receives_.side.records.front().after_gap;
    const bool open_end = sends_.side.ends_in_gap || receives_.side.ends_in_gap;
    const NumberPairs head(sends_, receives_, false);
    const std::vector<std::size_t> cuts = head.cuts();
    if (cuts.empty() && !open_begin && !open_end) {
      if (sends_.total != receives_.total || head.jumps(0, head.pairs().size())) {
        return std::nullopt;
      }
      result_.pairs = head.pairs();
    } else {
      const NumberPairs tail(sends_, receives_, true);
      if (!open_begin && !add_head(head, cuts)) return std::nullopt;
      tail_ = tail.pairs().size();
      if (!open_end && !add_tail(tail)) return std::nullopt;
      if (!is_confirmed(head, tail)) return std::nullopt;
    }
    count_unpaired(ends_, result_.pairs, result_);
    return std::move(result_);
  }

 private:
  /// Adds the pairs counted from the begin, up to the first cut. False if their delays jump.
  bool add_head(const NumberPairs& head, const std::vector<std::size_t>& cuts) {
    head_ = cuts.empty() ? head.pairs().size()
                         : cuts.front() - std::min(cuts.front(), NumberLimits::margin);
    result_.pairs.assign(head.pairs().begin(),
                         head.pairs().begin() + static_cast<std::ptrdiff_t>(head_));
    return !head.jumps(0, head_);
  }
  /// Adds the pairs counted from the end, after the last cut. False if their delays jump.
  bool add_tail(const NumberPairs& tail) {
    const std::vector<std::size_t> cuts = tail.cuts();
    const Pairs& pairs = tail.pairs();
    tail_ = cuts.empty() ? 0 : std::min(cuts.back() + NumberLimits::margin, pairs.size());
    while (tail_ < pairs.size() && head_ > 0 &&
           (pairs[tail_].first <= result_.pairs.back().first ||
            pairs[tail_].second <= result_.pairs.back().second)) {
      ++tail_;
    }
    result_.pairs.insert(result_.pairs.end(), pairs.begin() + static_cast<std::ptrdiff_t>(tail_),
                         pairs.end());
    return !tail.jumps(tail_, pairs.size());
  }

  /// Checks head and tail: records missing at the begin or at the end are in no routine and, with
  /// cuts, in no totals. Their delays must be clear and alike where they meet, or an alignment of
  /// all ends must find their pairs. Adds the pairs between them.
  bool is_confirmed(const NumberPairs& head, const NumberPairs& tail) {
    const std::size_t head_from = head_ - std::min(head_, NumberLimits::near);
    const std::size_t tail_end = std::min(tail_ + NumberLimits::near, tail.pairs().size());
    const bool clear = head.is_clear(head_from, head_) && tail.is_clear(tail_, tail_end);
    if (clear &&
        distance(head.quartiles(head_from, head_).median, tail.quartiles(tail_, tail_end).median) >
            head.spacing(head_from, head_) / NumberLimits::alike) {
      return false;
    }
    Pairs between;
    if (clear && sends_.independent) {
      between = head.pairs_near(head.quartiles(head_from, head_).median,
                                head.spacing(head_from, head_) / NumberLimits::alike);
    } else if (only_delays_distinguish(sends_, receives_)) {
      if (!clear) return false;
    } else {
      const Alignment aligned = align_records(sends_.side, receives_.side);
      const auto [same, other] = compare(aligned.pairs);
      const bool agrees = other * NumberLimits::disagreement <= same;
      if (!clear && (!agrees || 2 * same < result_.pairs.size())) return false;
      if (agrees) between = aligned.pairs;
    }
    insert(between);
    return true;
  }

  /// Adds the pairs that lie between head and tail.
  void insert(const Pairs& pairs) {
    const auto next = [](const auto& pair) { return std::pair(pair.first + 1, pair.second + 1); };
    const auto first = head_ > 0 ? next(result_.pairs[head_ - 1]) : std::pair(0u, 0u);
    const auto end = head_ < result_.pairs.size()
                         ? result_.pairs[head_]
                         : std::pair(static_cast<std::uint32_t>(sends_.numbers.size()),
                                     static_cast<std::uint32_t>(receives_.numbers.size()));
    Pairs inside;
    std::copy_if(pairs.begin(), pairs.end(), std::back_inserter(inside), [&](const auto& pair) {
      return pair.first >= first.first && pair.second >= first.second && pair.first < end.first &&
             pair.second < end.second;
    });
    const auto number = [](std::uint32_t n) { return static_cast<std::int32_t>(n); };
    if (first.first < end.first && first.second < end.second &&
        !ends_.send_gap(number(first.first) - 1, number(end.first)) &&
        !ends_.receive_gap(number(first.second) - 1, number(end.second))) {
      result_.ambiguous =
          std::min(end.first - first.first, end.second - first.second) - inside.size();
    }
    result_.pairs.insert(result_.pairs.begin() + static_cast<std::ptrdiff_t>(head_), inside.begin(),
                         inside.end());
  }

  /// Number of these pairs that are already there, and of those with an end that has another
  /// partner.
  [[nodiscard]] std::pair<std::size_t, std::size_t> compare(const Pairs& others) const {
    std::vector<std::uint32_t> send_of(receives_.numbers.size(), k_none);
    std::vector<std::uint32_t> receive_of(sends_.numbers.size(), k_none);
    for (const auto& [send, receive] : result_.pairs) {
      send_of[receive] = send;
      receive_of[send] = receive;
    }
    std::size_t same = 0, other = 0;
    for (const auto& [send, receive] : others) {
      if (send_of[receive] == send) {
        ++same;
      } else if (send_of[receive] != k_none || receive_of[send] != k_none) {
        ++other;
      }
    }
    return {same, other};
  }

  const NumberedSide &sends_, &receives_;
  const Ends ends_;
  std::size_t head_ = 0;  ///< number of pairs counted from the begin
  std::size_t tail_ = 0;  ///< first pair kept of those counted from the end
  Alignment result_;
};

}  // namespace

std::optional<Alignment> pair_by_numbers(const NumberedSide& sends, const NumberedSide& receives) {
  if (sends.numbers.empty() || receives.numbers.empty()) return std::nullopt;
  if (std::min(sends.evidence, receives.evidence) < NumberLimits::evidence) return std::nullopt;
  return NumberAlignment(sends, receives).run();
}

bool only_delays_distinguish(const NumberedSide& sends, const NumberedSide& receives) {
  const std::uint32_t kinds = std::min(sends.kinds, receives.kinds);
  if (kinds < 2 || kinds > NumberLimits::few_kinds || sends.numbers.empty()) return false;
  const auto has_first_symbol = [&](const EndRecord& record) {
    return record.symbol == sends.side.records.front().symbol;
  };
  return std::all_of(sends.side.records.begin(), sends.side.records.end(), has_first_symbol) &&
         std::all_of(receives.side.records.begin(), receives.side.records.end(), has_first_symbol);
}

}  // namespace entrain::match
