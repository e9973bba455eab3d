// SPDX-License-Identifier: BSD-3-Clause
#include "match/in_step.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "match/ends.hpp"

namespace entrain::match {

namespace {

constexpr std::uint32_t k_evidence = 18;    ///< least of both processes, in bits
constexpr std::uint32_t k_few_kinds = 4;    ///< of operations, among which only delays tell
constexpr std::size_t k_level = 8;          ///< pairs around a pause
constexpr std::size_t k_margin = 2;         ///< pairs next to a cut that are not certain
constexpr std::size_t k_window = 32;        ///< pairs whose delays are compared with the next ones
constexpr std::size_t k_near = 256;         ///< pairs next to the cuts, of head and tail
constexpr std::size_t k_samples = 2048;     ///< of moves of the delay
constexpr std::uint64_t k_jump = 4;         ///< times the usual move
constexpr std::size_t k_disagreement = 50;  ///< one of so many pairs may be another one

using Pairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;
using Delay = std::int64_t;

/// The lower middle of the delays of pairs [begin, begin + count).
template <std::size_t most>
Delay middle(std::span<const Delay> delays, std::size_t begin, std::size_t count) {
  std::array<Delay, most> some{};
  std::copy_n(delays.begin() + static_cast<std::ptrdiff_t>(begin), count, some.begin());
  const auto place = some.begin() + static_cast<std::ptrdiff_t>((count - 1) / 2);
  std::nth_element(some.begin(), place, some.begin() + static_cast<std::ptrdiff_t>(count));
  return *place;
}

std::uint64_t distance(Delay a, Delay b) { return magnitude(difference(a, b)); }

/// Pairs of ends of equal numbers, counted from a place where both sides have the same number.
class Lane {
 public:
  Lane(const Numbered& sends, const Numbered& receives, bool from_end)
      : sends_(sends), receives_(receives) {
    // Counted from the end, numbers are below 0.
    const auto number = [&](const Numbered& side, std::size_t k) {
      return std::int64_t{side.numbers[k]} - (from_end ? side.total : 0);
    };
    for (std::size_t i = 0, j = 0; i < sends.numbers.size() && j < receives.numbers.size();) {
      const std::int64_t ahead = number(sends, i) - number(receives, j);
      if (ahead == 0 && !sends.side.traits[i].displaced && !receives.side.traits[j].displaced) {
        pairs_.emplace_back(static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j));
        delays_.push_back(difference(time(receives, j), time(sends, i)));
      }
      i += ahead <= 0 ? 1 : 0;
      j += ahead >= 0 ? 1 : 0;
    }
  }

  [[nodiscard]] const Pairs& pairs() const { return pairs_; }
  /// Mean distance of the sends of pairs [begin, end). Not to be called without pairs.
  [[nodiscard]] std::uint64_t spacing(std::size_t begin, std::size_t end) const {
    return distance(time(sends_, pairs_[end - 1].first), time(sends_, pairs_[begin].first)) /
           (end - begin);
  }
  /// True if the delays of so many pairs vary far less than their sends are apart.
  [[nodiscard]] bool is_sharp(std::size_t begin, std::size_t end) const {
    return begin + k_window <= end && usual_move(begin, end) <= spacing(begin, end) / 8;
  }
  /// The lower quarter, the middle and the upper quarter of the delays of pairs [begin, end).
  struct Quarters {
    Delay lower = 0, middle = 0, upper = 0;
  };
  [[nodiscard]] Quarters quarters(std::size_t begin, std::size_t end) const {
    std::vector<Delay> sorted(delays_.begin() + static_cast<std::ptrdiff_t>(begin),
                              delays_.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(sorted.begin(), sorted.end());
    return {sorted[sorted.size() / 4], sorted[(sorted.size() - 1) / 2],
            sorted[sorted.size() * 3 / 4]};
  }
  /// True if most delays of so many pairs vary less than their sends are apart.
  [[nodiscard]] bool is_clear(std::size_t begin, std::size_t end) const {
    if (begin + k_window > end) return false;
    const Quarters quarters_of = quarters(begin, end);
    return distance(quarters_of.upper, quarters_of.lower) <= spacing(begin, end) / 4;
  }
  /// Pairs of equal symbols with a delay that is at most so far from another one.
  [[nodiscard]] Pairs pairs_near(Delay delay, std::uint64_t most) const {
    Pairs near;
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      if (distance(delays_[k], delay) > most || !has_equal_symbols(k)) continue;
      near.push_back(pairs_[k]);
    }
    return near;
  }
  /// The middle of 8 delays.
  [[nodiscard]] Delay level_from(std::size_t first) const {
    return middle<k_level>(delays_, first, k_level);
  }
  /// The pairs before which the numbers may have become wrong, in order: behind pauses in which
  /// some are missing, and at unequal symbols.
  [[nodiscard]] std::vector<std::size_t> cuts() const {
    std::vector<std::size_t> cuts;
    const std::vector<std::size_t> silent_sends = pauses(sends_, true, cuts);
    const std::vector<std::size_t> silent_receives = pauses(receives_, false, cuts);
    // With equal totals, both have missed as much, if anything.
    if (sends_.total != receives_.total) cut_at_both(silent_sends, silent_receives, cuts);
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      if (!has_equal_symbols(k)) cuts.insert(cuts.end(), {k, k + 1});
    }
    std::sort(cuts.begin(), cuts.end());
    return cuts;
  }
  /// True if the delays of pairs [begin, end) move to another level, as if others were right there.
  [[nodiscard]] bool jumps(std::size_t begin, std::size_t end) const {
    constexpr std::size_t step = k_window / 2;
    std::vector<Delay> levels;
    for (std::size_t k = begin; k + k_window <= end; k += step) {
      levels.push_back(middle<k_window>(delays_, k, k_window));
    }
    const std::uint64_t most = k_jump * usual_move(begin, end);
    for (std::size_t k = 2; k < levels.size(); ++k) {
      if (distance(levels[k], levels[k - 2]) > most) return true;
    }
    return false;
  }

 private:
  [[nodiscard]] bool has_equal_symbols(std::size_t k) const {
    return sends_.side.traits[pairs_[k].first].symbol ==
           receives_.side.traits[pairs_[k].second].symbol;
  }
  static Delay time(const Numbered& side, std::size_t k) {
    return static_cast<Delay>(side.side.traits[k].time);
  }

  /// By how much the middle of 8 delays of pairs [begin, end) usually differs from that of the next
  /// 8: 97 in 100 differ less. At least 1.
  [[nodiscard]] std::uint64_t usual_move(std::size_t begin, std::size_t end) const {
    if (begin + 2 * k_level > end) return 1;
    const std::size_t places = end - begin - 2 * k_level + 1;
    const std::size_t count = std::min(places, k_samples);
    std::vector<std::uint64_t> moves(count);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t k = begin + i * places / count;
      moves[i] = distance(level_from(k + k_level), level_from(k));
    }
    const auto place = moves.begin() + static_cast<std::ptrdiff_t>((count - 1) * 97 / 100);
    std::nth_element(moves.begin(), place, moves.end());
    return std::max<std::uint64_t>(*place, 1);
  }

  /// The first pairs behind the pauses of a side. Adds those to `cuts` at which the delay changes
  /// by half the pause or more, or that too few pairs surround.
  [[nodiscard]] std::vector<std::size_t> pauses(const Numbered& side, bool of_sends,
                                                std::vector<std::size_t>& cuts) const {
    std::vector<std::size_t> places;
    for (const Pause& pause : side.pauses) {
      if (pause.end == 0) continue;
      const auto found = std::partition_point(pairs_.begin(), pairs_.end(), [&](const auto& pair) {
        return (of_sends ? pair.first : pair.second) < pause.end;
      });
      const auto k = static_cast<std::size_t>(found - pairs_.begin());
      if (places.empty() || places.back() != k) places.push_back(k);
      const std::size_t before = std::min(k, k_level);
      const std::size_t after = std::min(pairs_.size() - k, k_level);
      if (2 * before < k_level || 2 * after < k_level ||
          distance(middle<k_level>(delays_, k, after),
                   middle<k_level>(delays_, k - before, before)) >= pause.length / 2) {
        cuts.push_back(k);
      }
    }
    return places;
  }

  /// Cuts where both processes pause, unless sharp delays say that nothing is missing there.
  void cut_at_both(const std::vector<std::size_t>& silent_sends,
                   const std::vector<std::size_t>& silent_receives,
                   std::vector<std::size_t>& cuts) const {
    if (silent_sends.empty() || silent_receives.empty()) return;
    const bool sharp = is_sharp(0, pairs_.size());
    for (const std::size_t a : silent_sends) {
      const auto near = std::lower_bound(silent_receives.begin(), silent_receives.end(),
                                         a - std::min(a, k_level));
      for (auto b = near; b != silent_receives.end() && *b <= a + k_level; ++b) {
        const auto [first, second] = std::minmax(a, *b);
        if (!sharp || !steady_around(first, second)) cuts.insert(cuts.end(), {first, second});
      }
    }
  }

  /// True if the delays before pair `first` and from pair `second` on say that no message lies
  /// between them that one side misses.
  [[nodiscard]] bool steady_around(std::size_t first, std::size_t second) const {
    return first >= k_level && second + k_level <= pairs_.size() &&
           distance(level_from(second), level_from(first - k_level)) <=
               spacing(0, pairs_.size()) / 4;
  }

  const Numbered &sends_, &receives_;
  Pairs pairs_;
  std::vector<Delay> delays_;  ///< per pair
};

class InStep {
 public:
  InStep(const Numbered& sends, const Numbered& receives)
      : sends_(sends), receives_(receives), ends_(sends.side, receives.side) {}

  std::optional<Alignment> run() {
    const bool open_begin =
        sends_.side.traits.front().after_gap || receives_.side.traits.front().after_gap;
    const bool open_end = sends_.side.ends_in_gap || receives_.side.ends_in_gap;
    const Lane head(sends_, receives_, false);
    const std::vector<std::size_t> cuts = head.cuts();
    if (cuts.empty() && !open_begin && !open_end) {
      if (sends_.total != receives_.total || head.jumps(0, head.pairs().size())) {
        return std::nullopt;
      }
      result_.pairs = head.pairs();
    } else {
      const Lane tail(sends_, receives_, true);
      if (!open_begin && !add_head(head, cuts)) return std::nullopt;
      tail_ = tail.pairs().size();
      if (!open_end && !add_tail(tail)) return std::nullopt;
      if (!is_confirmed(head, tail)) return std::nullopt;
    }
    count_left_out(ends_, result_.pairs, result_);
    return std::move(result_);
  }

 private:
  /// Pairs counted from the begin, up to the first cut. False if there are contradictions.
  bool add_head(const Lane& head, const std::vector<std::size_t>& cuts) {
    head_ = cuts.empty() ? head.pairs().size() : cuts.front() - std::min(cuts.front(), k_margin);
    result_.pairs.assign(head.pairs().begin(),
                         head.pairs().begin() + static_cast<std::ptrdiff_t>(head_));
    return !head.jumps(0, head_);
  }
  /// Pairs counted from the end, behind the last cut. False if there are contradictions.
  bool add_tail(const Lane& tail) {
    const std::vector<std::size_t> cuts = tail.cuts();
    const Pairs& pairs = tail.pairs();
    tail_ = cuts.empty() ? 0 : std::min(cuts.back() + k_margin, pairs.size());
    while (tail_ < pairs.size() && head_ > 0 &&
           (pairs[tail_].first <= result_.pairs.back().first ||
            pairs[tail_].second <= result_.pairs.back().second)) {
      ++tail_;
    }
    result_.pairs.insert(result_.pairs.end(), pairs.begin() + static_cast<std::ptrdiff_t>(tail_),
                         pairs.end());
    return !tail.jumps(tail_, pairs.size());
  }

  /// What is missing at the begin or at the end shows in no routine and, with cuts, in no totals.
  /// So head and tail count only if their delays are clear and alike where they meet, or if an
  /// alignment of all ends finds their pairs, too. Adds those between them.
  bool is_confirmed(const Lane& head, const Lane& tail) {
    const std::size_t head_from = head_ - std::min(head_, k_near);
    const std::size_t tail_end = std::min(tail_ + k_near, tail.pairs().size());
    const bool clear = head.is_clear(head_from, head_) && tail.is_clear(tail_, tail_end);
    if (clear &&
        distance(head.quarters(head_from, head_).middle, tail.quarters(tail_, tail_end).middle) >
            head.spacing(head_from, head_) / 4) {
      return false;
    }
    Pairs between;
    if (clear && sends_.independent) {
      between = head.pairs_near(head.quarters(head_from, head_).middle,
                                head.spacing(head_from, head_) / 4);
    } else if (only_delays_tell(sends_, receives_)) {
      if (!clear) return false;
    } else {
      const Alignment aligned = align(sends_.side, receives_.side);
      const auto [same, other] = compare(aligned.pairs);
      const bool agrees = other * k_disagreement <= same;
      if (!clear && (!agrees || 2 * same < result_.pairs.size())) return false;
      if (agrees) between = aligned.pairs;
    }
    insert(between);
    return true;
  }

  /// Adds those pairs that lie between head and tail.
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

  /// How many of these pairs are among those so far, and how many have an end of theirs with
  /// another partner.
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

  const Numbered &sends_, &receives_;
  const Ends ends_;
  std::size_t head_ = 0;  ///< pairs counted from the begin
  std::size_t tail_ = 0;  ///< the first pair counted from the end, among all counted so
  Alignment result_;
};

}  // namespace

std::optional<Alignment> pair_in_step(const Numbered& sends, const Numbered& receives) {
  if (sends.numbers.empty() || receives.numbers.empty()) return std::nullopt;
  if (std::min(sends.evidence, receives.evidence) < k_evidence) return std::nullopt;
  return InStep(sends, receives).run();
}

bool only_delays_tell(const Numbered& sends, const Numbered& receives) {
  const std::uint32_t kinds = std::min(sends.kinds, receives.kinds);
  if (kinds < 2 || kinds > k_few_kinds || sends.numbers.empty()) return false;
  const auto like_the_first = [&](const Trait& trait) {
    return trait.symbol == sends.side.traits.front().symbol;
  };
  return std::all_of(sends.side.traits.begin(), sends.side.traits.end(), like_the_first) &&
         std::all_of(receives.side.traits.begin(), receives.side.traits.end(), like_the_first);
}

}  // namespace entrain::match
