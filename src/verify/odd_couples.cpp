// SPDX-License-Identifier: BSD-3-Clause
#include "verify/odd_couples.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

namespace entrain::verify {

namespace {

using Couple = Alignment::Couple;

/// Couples on either side of one: at most so many are looked at, and at least so many are needed.
constexpr std::size_t k_most_beside = 8, k_least_beside = 4;

/// The same where only the lowest delays count, and how many of them do.
constexpr std::size_t k_most_in_sight = 256, k_least_in_sight = 8, k_lowest = 8;

/// later - earlier; damaged stamps may lie anywhere, so at most 2^60.
std::int64_t ticks_between(std::uint64_t earlier, std::uint64_t later) {
  const std::uint64_t apart = earlier < later ? later - earlier : earlier - later;
  const auto ticks = static_cast<std::int64_t>(std::min(apart, std::uint64_t{1} << 60));
  return earlier < later ? ticks : -ticks;
}

/// Delays on one side of a couple, sorted.
using Sorted = std::vector<std::int64_t>;

/// Judges the couples of two rows by their delays.
class Judge {
 public:
  Judge(const Row& first, const Row& second, const std::vector<Couple>& couples) {
    for (const Couple& couple : couples) {
      times_.push_back(first.traits[couple.send].time);
      delays_.push_back(ticks_between(times_.back(), second.traits[couple.receive].time));
    }
  }

  /// Looks at the couples around the k-th one; false if there are too few.
  bool look(std::size_t k) {
    at_ = k;
    if (k < k_least_beside || delays_.size() - k <= k_least_beside) return false;
    before_ = sorted(k - std::min(k, k_most_beside), k);
    behind_ = sorted(k + 1, std::min(k + 1 + k_most_beside, delays_.size()));
    Sorted both;
    std::merge(before_.begin(), before_.end(), behind_.begin(), behind_.end(),
               std::back_inserter(both));
    middle_ = both[both.size() / 2];
    lowest_ = both.front();
    highest_ = both.back();
    return true;
  }
  [[nodiscard]] bool too_early() const {
    const std::int64_t apart =
        middle_ - lowest_ + std::max(before_.front(), behind_.front()) - lowest_;
    return (lowest_ - delays_[at_]) / 2 > apart;
  }
  /// Whether it is below the lowest of up to 256 on either side by more than twice what the eight
  /// lowest differ, and than twice what the lowest before and behind do.
  [[nodiscard]] bool far_below_the_lowest() const {
    if (delays_[at_] >= lowest_) return false;  // the rest takes time
    const std::size_t begin = at_ - std::min(at_, k_most_in_sight);
    const std::size_t end = std::min(at_ + 1 + k_most_in_sight, delays_.size());
    if (at_ - begin < k_least_in_sight || end - at_ <= k_least_in_sight) return false;
    for (std::size_t k = begin; k < end; ++k) {
      if (k != at_ && delays_[k] <= delays_[at_]) return false;
    }
    const Sorted before = sorted(begin, at_), behind = sorted(at_ + 1, end);
    Sorted both;
    std::merge(before.begin(), before.end(), behind.begin(), behind.end(),
               std::back_inserter(both));
    const std::int64_t apart = std::max(both[k_lowest - 1] - both.front(),
                                        std::max(before.front(), behind.front()) - both.front());
    return (both.front() - delays_[at_]) / 2 > apart;
  }
  [[nodiscard]] bool too_late() const {
    const std::int64_t apart =
        highest_ - middle_ + highest_ - std::min(before_.back(), behind_.back());
    return (delays_[at_] - highest_) / 2 > apart;
  }
  /// Whether it is off by more than half of the way to the nearer neighbour.
  [[nodiscard]] bool might_be_another() const {
    const std::int64_t way = std::min(ticks_between(times_[at_ - 1], times_[at_]),
                                      ticks_between(times_[at_], times_[at_ + 1]));
    const std::int64_t off =
        delays_[at_] > middle_ ? delays_[at_] - middle_ : middle_ - delays_[at_];
    return off > way / 2;
  }

  /// Whether the couples from the k-th one on are further from those before it than these differ
  /// among themselves, and by more than half of the middle way from one to the next.
  [[nodiscard]] bool jumps_at(std::size_t k) const {
    const std::size_t begin = k - std::min(k, k_most_beside);
    const std::size_t end = std::min(k + k_most_beside, delays_.size());
    if (k - begin < k_least_beside || end - k < k_least_beside) return false;
    const Sorted before = sorted(begin, k), behind = sorted(k, end);
    const std::int64_t jump =
        std::max(before.front() - behind.back(), behind.front() - before.back());
    const std::int64_t apart = before.back() - before.front() + behind.back() - behind.front();
    if (jump <= apart) return false;
    Sorted ways;
    for (std::size_t i = begin + 1; i < end; ++i) {
      ways.push_back(ticks_between(times_[i - 1], times_[i]));
    }
    std::sort(ways.begin(), ways.end());
    return jump > ways[ways.size() / 2] / 2;
  }

 private:
  [[nodiscard]] Sorted sorted(std::size_t from, std::size_t to) const {
    Sorted delays(delays_.begin() + static_cast<std::ptrdiff_t>(from),
                  delays_.begin() + static_cast<std::ptrdiff_t>(to));
    std::sort(delays.begin(), delays.end());
    return delays;
  }

  std::vector<std::uint64_t> times_;  ///< of the first row
  std::vector<std::int64_t> delays_;
  std::size_t at_ = 0;
  Sorted before_, behind_;
  std::int64_t middle_ = 0, lowest_ = 0, highest_ = 0;  ///< of both
};

template <class IsOdd>
void give_up(const Row& first, const Row& second, Alignment& alignment, IsOdd is_odd) {
  std::vector<Couple> kept;
  Judge judge(first, second, alignment.couples);
  for (std::size_t k = 0; k < alignment.couples.size(); ++k) {
    if (judge.look(k) && is_odd(judge)) {
      ++alignment.ambiguous;
    } else {
      kept.push_back(alignment.couples[k]);
    }
  }
  alignment.couples = std::move(kept);
}

/// Whether something that came `ticks` after its cause came before it, even if both clocks are as
/// wrong as they may be.
bool contradicts(std::int64_t ticks, const Trait& cause, const Trait& effect) {
  if (std::max(cause.doubt, effect.doubt) == trace::RecordedClock::k_unknown) return false;
  return ticks + cause.doubt + effect.doubt < 0;
}

/// Gives up the couples for which `wrong` holds; if they are more than 1 in 16, all.
template <class Wrong>
void give_up_contradictions(Alignment& alignment, Wrong wrong) {
  std::vector<Couple> kept;
  std::copy_if(alignment.couples.begin(), alignment.couples.end(), std::back_inserter(kept),
               [&](const Couple& couple) { return !wrong(couple); });
  if (16 * (alignment.couples.size() - kept.size()) > alignment.couples.size()) kept.clear();
  alignment.ambiguous += std::ssize(alignment.couples) - std::ssize(kept);
  alignment.couples = std::move(kept);
}

}  // namespace

void give_up_odd_messages(const Row& sends, const Row& receives, Alignment& alignment) {
  give_up_contradictions(alignment, [&](const Couple& couple) {
    const Trait &send = sends.traits[couple.send], &receive = receives.traits[couple.receive];
    return contradicts(ticks_between(send.time, receive.time), send, receive);
  });
  give_up(sends, receives, alignment,
          [](const Judge& judge) { return judge.too_early() || judge.far_below_the_lowest(); });
}

void give_up_odd_calls(const Row& others, const Row& own, Alignment& alignment) {
  give_up_contradictions(alignment, [&](const Couple& couple) {
    const Trait &a = others.traits[couple.send], &b = own.traits[couple.receive];
    if (std::max(a.stay, b.stay) == trace::RecordedClock::k_unknown) return false;
    // A message left after the end of one call and arrived before the begin of the other.
    if (a.news > b.time || b.news > a.time) return true;
    return contradicts(ticks_between(a.time, b.time) + a.stay, a, b) ||
           contradicts(ticks_between(b.time, a.time) + b.stay, b, a);
  });
  give_up(others, own, alignment, [](const Judge& judge) {
    return (judge.too_early() || judge.too_late()) && judge.might_be_another();
  });
  const Judge judge(others, own, alignment.couples);
  for (std::size_t k = 0; k < alignment.couples.size(); ++k) {
    if (!judge.jumps_at(k)) continue;
    alignment.ambiguous += static_cast<std::int64_t>(alignment.couples.size());
    alignment.couples.clear();
  }
}

}  // namespace entrain::verify
