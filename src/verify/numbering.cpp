// SPDX-License-Identifier: BSD-3-Clause
#include "verify/numbering.hpp"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "verify/grid.hpp"

namespace entrain::verify {

namespace {

using Couple = Alignment::Couple;
using Couples = std::vector<Couple>;

constexpr std::uint32_t k_trust = 18;   ///< bits, of both processes
constexpr std::int64_t k_around = 8;    ///< couples before and after a stop
constexpr std::int64_t k_doubtful = 2;  ///< couples next to a break
constexpr std::int64_t k_stretch = 32;  ///< couples whose delays have a level
constexpr std::int64_t k_most_moves = 2048;

/// The middle of delays, of an even number the lower one.
std::int64_t level(std::vector<std::int64_t> delays) {
  const auto place = delays.begin() + (std::ssize(delays) - 1) / 2;
  std::nth_element(delays.begin(), place, delays.end());
  return *place;
}

/// Ends with the same ordinal, where both rows are counted from the begin, or both from the end.
class Match {
 public:
  Match(const Row& sends, const Row& receives, bool backward) : sends_(sends), receives_(receives) {
    const std::int64_t lead =
        backward ? std::int64_t{receives.ordinals.count} - sends.ordinals.count : 0;
    auto receive = receives.ordinals.of.begin();
    for (std::uint32_t s = 0; s < sends.traits.size(); ++s) {
      const std::int64_t wanted = sends.ordinals.of[s] + lead;
      while (receive != receives.ordinals.of.end() && *receive < wanted) ++receive;
      if (receive == receives.ordinals.of.end()) break;
      if (*receive != wanted) continue;
      couples_.push_back({s, static_cast<std::uint32_t>(receive - receives.ordinals.of.begin())});
    }
    for (const auto& [s, r] : couples_) {
      delays_.push_back(minus(receives.traits[r].time, sends.traits[s].time));
    }
    measure_moves();
  }

  [[nodiscard]] const Couples& couples() const { return couples_; }

  /// The first couple behind each place where ordinals may have gone wrong; not in order.
  [[nodiscard]] std::vector<std::int64_t> breaks() const {
    std::vector<std::int64_t> breaks;
    const std::vector<std::int64_t> sent = behind_stops(sends_, &Couple::send, breaks);
    const std::vector<std::int64_t> received = behind_stops(receives_, &Couple::receive, breaks);
    // Where both stop, what both miss does not show in the delays, unless they are very sharp.
    auto first = received.begin();
    for (const std::int64_t s : sent) {
      while (first != received.end() && *first < s - k_around) ++first;
      for (auto r = first; r != received.end() && *r <= s + k_around; ++r) {
        const auto [early, late] = std::minmax(s, *r);
        if (sharp_across(early, late)) continue;
        breaks.push_back(early);
        breaks.push_back(late);
      }
    }
    for (std::int64_t k = 0; k < std::ssize(couples_); ++k) {
      const auto& [s, r] = couples_[k];
      if (sends_.traits[s].symbol == receives_.traits[r].symbol) continue;
      breaks.push_back(k);
      breaks.push_back(k + 1);
    }
    return breaks;
  }

  /// Whether the delays of couples [from, to) stay at one level, compared every half stretch.
  [[nodiscard]] bool level_from(std::int64_t from, std::int64_t to) const {
    for (std::int64_t k = from; k + 2 * k_stretch <= to; k += k_stretch / 2) {
      if (size_of(minus(level_of(k + k_stretch, k_stretch), level_of(k, k_stretch))) >
          4 * usual_move_) {
        return false;
      }
    }
    return true;
  }

 private:
  [[nodiscard]] std::int64_t level_of(std::int64_t first, std::int64_t count) const {
    const auto begin = delays_.begin() + first;
    return level({begin, begin + count});
  }

  void measure_moves() {
    const std::int64_t places = std::ssize(delays_) - 2 * k_around + 1;
    if (places < 1) return;
    const std::int64_t measured = std::min(places, k_most_moves);
    std::vector<std::uint64_t> moves;
    for (std::int64_t m = 0; m < measured; ++m) {
      const std::int64_t k = m * places / measured;
      moves.push_back(size_of(minus(level_of(k + k_around, k_around), level_of(k, k_around))));
    }
    const auto place = moves.begin() + (measured - 1) * 97 / 100;
    std::nth_element(moves.begin(), place, moves.end());
    usual_move_ = std::max<std::uint64_t>(*place, 1);
  }

  /// The first couples behind the stops of a row. Those are breaks, too, unless couples on both
  /// sides show that the delay changes by less than half the stop.
  std::vector<std::int64_t> behind_stops(const Row& row, std::uint32_t Couple::*end,
                                         std::vector<std::int64_t>& breaks) const {
    std::vector<std::int64_t> found;
    for (const Stop& stop : row.ordinals.stops) {
      if (stop.end == 0) continue;
      const auto first = std::lower_bound(
          couples_.begin(), couples_.end(), stop.end,
          [&](const Couple& couple, std::uint32_t index) { return couple.*end < index; });
      const std::int64_t k = first - couples_.begin();
      found.push_back(k);
      const std::int64_t before = std::min(k, k_around);
      const std::int64_t after = std::min(std::ssize(couples_) - k, k_around);
      if (std::min(before, after) < k_around / 2 ||
          size_of(minus(level_of(k, after), level_of(k - before, before))) >= stop.ticks / 2) {
        breaks.push_back(k);
      }
    }
    return found;
  }

  /// Whether delays vary far less than messages are apart, and do so across couples [early, late).
  [[nodiscard]] bool sharp_across(std::int64_t early, std::int64_t late) const {
    if (early < k_around || late + k_around > std::ssize(couples_)) return false;
    const std::uint64_t apart = size_of(minus(sends_.traits[couples_.back().send].time,
                                              sends_.traits[couples_.front().send].time)) /
                                couples_.size();
    const std::int64_t change =
        minus(level_of(late, k_around), level_of(early - k_around, k_around));
    return usual_move_ <= apart / 8 && size_of(change) <= apart / 4;
  }

  const Row &sends_, &receives_;
  Couples couples_;
  std::vector<std::int64_t> delays_;  ///< per couple
  std::uint64_t usual_move_ = 1;
};

/// The ends that no ordinals couple: [send_from, send_to) and [receive_from, receive_to).
struct Middle {
  std::uint32_t send_from = 0, receive_from = 0, send_to = 0, receive_to = 0;

  [[nodiscard]] bool holds(const Couple& couple) const {
    return couple.send >= send_from && couple.send < send_to && couple.receive >= receive_from &&
           couple.receive < receive_to;
  }
  [[nodiscard]] bool empty() const { return send_from >= send_to || receive_from >= receive_to; }
};

/// Whether one in fifty couples or less has an end of `known` with another partner.
bool mostly_agree(const Couples& others, const Couples& known) {
  std::uint64_t same = 0, different = 0;
  for (const Couple& other : others) {
    const auto by_send =
        std::lower_bound(known.begin(), known.end(), other,
                         [](const Couple& a, const Couple& b) { return a.send < b.send; });
    if (by_send != known.end() && *by_send == other) {
      ++same;
      continue;
    }
    const auto by_receive =
        std::lower_bound(known.begin(), known.end(), other,
                         [](const Couple& a, const Couple& b) { return a.receive < b.receive; });
    if ((by_send != known.end() && by_send->send == other.send) ||
        (by_receive != known.end() && by_receive->receive == other.receive)) {
      ++different;
    }
  }
  return 50 * different <= same;
}

/// Couples between those counted from the begin and those from the end.
Couples between(const Row& sends, const Row& receives, const Couples& known, const Middle& middle) {
  if (delays_alone(sends, receives)) return {};
  Row whole_sends = sends, whole_receives = receives;
  whole_sends.whole = whole_receives.whole = 0;
  const Alignment aligned = align_rows(whole_sends, whole_receives);
  if (!mostly_agree(aligned.couples, known)) return {};
  Couples inside;
  std::copy_if(aligned.couples.begin(), aligned.couples.end(), std::back_inserter(inside),
               [&](const Couple& couple) { return middle.holds(couple); });
  return inside;
}

}  // namespace

bool delays_alone(const Row& sends, const Row& receives) {
  return std::min(sends.ordinals.kinds, receives.ordinals.kinds) <= 4;
}

std::optional<Alignment> couple_by_ordinals(const Row& sends, const Row& receives) {
  if (std::min(sends.ordinals.trust, receives.ordinals.trust) < k_trust) return std::nullopt;
  const Match forward(sends, receives, false);
  const std::vector<std::int64_t> breaks = forward.breaks();
  const bool open = sends.ends_in_gap || receives.ends_in_gap;
  const bool unbroken = breaks.empty() && !open;
  if (unbroken && sends.ordinals.count != receives.ordinals.count) return std::nullopt;
  std::int64_t head = std::ssize(forward.couples());
  if (!breaks.empty()) {
    head = std::max<std::int64_t>(*std::min_element(breaks.begin(), breaks.end()) - k_doubtful, 0);
  }
  if (!forward.level_from(0, head)) return std::nullopt;
  Alignment result;
  result.couples.assign(forward.couples().begin(), forward.couples().begin() + head);
  Middle middle{.send_to = static_cast<std::uint32_t>(sends.traits.size()),
                .receive_to = static_cast<std::uint32_t>(receives.traits.size())};
  if (head > 0) {
    middle.send_from = result.couples.back().send + 1;
    middle.receive_from = result.couples.back().receive + 1;
  }
  if (!unbroken) {
    Couples tail;
    if (!open) {
      const Match backward(sends, receives, true);
      const std::vector<std::int64_t> late = backward.breaks();
      if (late.empty()) return std::nullopt;
      const Couples& all = backward.couples();
      std::int64_t first = std::min<std::int64_t>(
          *std::max_element(late.begin(), late.end()) + k_doubtful, std::ssize(all));
      while (first < std::ssize(all) && !middle.holds(all[first])) ++first;
      if (!backward.level_from(first, std::ssize(all))) return std::nullopt;
      tail.assign(all.begin() + first, all.end());
      if (!tail.empty()) {
        middle.send_to = tail.front().send;
        middle.receive_to = tail.front().receive;
      }
    }
    Couples known = result.couples;
    known.insert(known.end(), tail.begin(), tail.end());
    if (!middle.empty()) {
      const Couples inside = between(sends, receives, known, middle);
      result.ambiguous =
          std::min(middle.send_to - middle.send_from, middle.receive_to - middle.receive_from) -
          std::ssize(inside);
      result.couples.insert(result.couples.end(), inside.begin(), inside.end());
    }
    result.couples.insert(result.couples.end(), tail.begin(), tail.end());
  }
  count_in_gaps(sends, receives, result);
  return result;
}

}  // namespace entrain::verify
