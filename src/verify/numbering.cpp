// SPDX-License-Identifier: BSD-3-Clause
#include "verify/numbering.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "base/ids.hpp"
#include "verify/grid.hpp"

namespace entrain::verify {

namespace {

using Couple = Alignment::Couple;
using Couples = std::vector<Couple>;

constexpr std::uint32_t k_trust = 18;         ///< bits, of both processes
constexpr std::int64_t k_around = 8;          ///< couples before and after a stop
constexpr std::int64_t k_doubtful = 2;        ///< couples next to a break
constexpr std::int64_t k_level_stretch = 32;  ///< couples whose delays have a level
constexpr std::int64_t k_near = 256;          ///< couples on both sides of the middle
constexpr std::int64_t k_most_moves = 2048;

/// The middle of at most a stretch of delays, of an even number the lower one.
std::int64_t level(std::span<const std::int64_t> delays) {
  std::array<std::int64_t, k_level_stretch> some;
  const auto end = std::copy(delays.begin(), delays.end(), some.begin());
  const auto place = some.begin() + (std::ssize(delays) - 1) / 2;
  std::nth_element(some.begin(), place, end);
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
      const auto r = static_cast<std::uint32_t>(receive - receives.ordinals.of.begin());
      if (*receive != wanted || sends.traits[s].displaced || receives.traits[r].displaced) continue;
      couples_.push_back({s, r});
    }
    for (const auto& [s, r] : couples_) {
      delays_.push_back(minus(receives.traits[r].time, sends.traits[s].time));
    }
  }

  [[nodiscard]] const Couples& couples() const { return couples_; }
  [[nodiscard]] std::int64_t level_at(std::int64_t first) const {
    return level_of(first, k_around);
  }
  /// How far the messages of couples [from, to) are apart on average.
  [[nodiscard]] std::uint64_t apart(std::int64_t from, std::int64_t to) const {
    return size_of(minus(sends_.traits[couples_[to - 1].send].time,
                         sends_.traits[couples_[from].send].time)) /
           static_cast<std::uint64_t>(to - from);
  }
  /// Whether the delays of a stretch of couples or more vary far less than that.
  [[nodiscard]] bool sharp(std::int64_t from, std::int64_t to) const {
    return to - from >= k_level_stretch && usual_move(from, to) <= apart(from, to) / 8;
  }

  /// The quartiles of the delays of couples [from, to).
  [[nodiscard]] std::array<std::int64_t, 3> quartiles(std::int64_t from, std::int64_t to) const {
    std::vector<std::int64_t> ordered(delays_.begin() + from, delays_.begin() + to);
    std::sort(ordered.begin(), ordered.end());
    const std::size_t n = ordered.size();
    return {ordered[n / 4], ordered[(n - 1) / 2], ordered[n * 3 / 4]};
  }
  /// Whether half of the delays of a stretch of couples or more vary less than that.
  [[nodiscard]] bool clear(std::int64_t from, std::int64_t to) const {
    if (to - from < k_level_stretch) return false;
    const auto [low, middle, high] = quartiles(from, to);
    return size_of(minus(high, low)) <= apart(from, to) / 4;
  }

  /// The couples of equal symbols whose delays differ from one by so much at most.
  [[nodiscard]] Couples near(std::int64_t delay, std::uint64_t most) const {
    Couples near;
    for (std::size_t k = 0; k < couples_.size(); ++k) {
      const auto& [s, r] = couples_[k];
      if (sends_.traits[s].symbol == receives_.traits[r].symbol &&
          size_of(minus(delays_[k], delay)) <= most) {
        near.push_back(couples_[k]);
      }
    }
    return near;
  }

  /// The first couple behind each place where ordinals may have gone wrong; not in order.
  [[nodiscard]] std::vector<std::int64_t> breaks() const {
    std::vector<std::int64_t> breaks;
    const std::vector<std::int64_t> sent = behind_stops(sends_, &Couple::send, breaks);
    const std::vector<std::int64_t> received = behind_stops(receives_, &Couple::receive, breaks);
    // If the counts are equal, both miss the same.
    if (sends_.ordinals.count != receives_.ordinals.count) add_common(sent, received, breaks);
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
    const std::uint64_t most = 4 * usual_move(from, to);
    std::vector<std::int64_t> levels;
    for (std::int64_t k = from; k + k_level_stretch <= to; k += k_level_stretch / 2) {
      levels.push_back(level_of(k, k_level_stretch));
    }
    for (std::size_t l = 2; l < levels.size(); ++l) {
      if (size_of(minus(levels[l], levels[l - 2])) > most) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] std::int64_t level_of(std::int64_t first, std::int64_t count) const {
    return level(std::span(delays_).subspan(static_cast<std::size_t>(first),
                                            static_cast<std::size_t>(count)));
  }

  /// What 97 in 100 moves of the level from 8 couples of [from, to) to the next 8 do not exceed.
  [[nodiscard]] std::uint64_t usual_move(std::int64_t from, std::int64_t to) const {
    const std::int64_t places = to - from - 2 * k_around + 1;
    if (places < 1) return 1;
    const std::int64_t measured = std::min(places, k_most_moves);
    std::vector<std::uint64_t> moves;
    for (std::int64_t m = 0; m < measured; ++m) {
      const std::int64_t k = from + m * places / measured;
      moves.push_back(size_of(minus(level_at(k + k_around), level_at(k))));
    }
    const auto place = moves.begin() + (measured - 1) * 97 / 100;
    std::nth_element(moves.begin(), place, moves.end());
    return std::max<std::uint64_t>(*place, 1);
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
      if (found.empty() || found.back() != k) found.push_back(k);
      const std::int64_t before = std::min(k, k_around);
      const std::int64_t after = std::min(std::ssize(couples_) - k, k_around);
      if (std::min(before, after) < k_around / 2 ||
          size_of(minus(level_of(k, after), level_of(k - before, before))) >= stop.ticks / 2) {
        breaks.push_back(k);
      }
    }
    return found;
  }

  /// Where both stop, what both miss does not show in the delays, unless they are very sharp.
  void add_common(const std::vector<std::int64_t>& sent, const std::vector<std::int64_t>& received,
                  std::vector<std::int64_t>& breaks) const {
    if (sent.empty() || received.empty()) return;
    const bool is_sharp = sharp(0, size());
    auto first = received.begin();
    for (const std::int64_t s : sent) {
      while (first != received.end() && *first < s - k_around) ++first;
      for (auto r = first; r != received.end() && *r <= s + k_around; ++r) {
        const auto [early, late] = std::minmax(s, *r);
        if (is_sharp && level_across(early, late)) continue;
        breaks.push_back(early);
        breaks.push_back(late);
      }
    }
  }
  /// Whether the delays say that no message between couples [early, late) is missing on one side.
  [[nodiscard]] bool level_across(std::int64_t early, std::int64_t late) const {
    return early >= k_around && late + k_around <= size() &&
           size_of(minus(level_at(late), level_at(early - k_around))) <= apart(0, size()) / 4;
  }
  [[nodiscard]] std::int64_t size() const { return std::ssize(couples_); }

  const Row &sends_, &receives_;
  Couples couples_;
  std::vector<std::int64_t> delays_;  ///< per couple
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

/// How many couples are among those that are known, and how many give an end of these another
/// partner.
struct Agreement {
  std::uint64_t same = 0, different = 0;

  Agreement(const Couples& others, const Couples& known) {
    for (const Couple& other : others) {
      const auto by_send =
          std::lower_bound(known.begin(), known.end(), other,
                           [](const Couple& a, const Couple& b) { return a.send < b.send; });
      const auto by_receive =
          std::lower_bound(known.begin(), known.end(), other,
                           [](const Couple& a, const Couple& b) { return a.receive < b.receive; });
      if (by_send != known.end() && *by_send == other) {
        ++same;
      } else if ((by_send != known.end() && by_send->send == other.send) ||
                 (by_receive != known.end() && by_receive->receive == other.receive)) {
        ++different;
      }
    }
  }
  [[nodiscard]] bool good() const { return 50 * different <= same; }
};

/// Couples counted from the begin and from the end of a broken row.
class Halves {
 public:
  Halves(const Row& sends, const Row& receives, const Match& forward)
      : sends_(sends), receives_(receives), forward_(forward), backward_(sends, receives, true) {
    middle_.send_to = static_cast<std::uint32_t>(sends.traits.size());
    middle_.receive_to = static_cast<std::uint32_t>(receives.traits.size());
    first_ = std::ssize(backward_.couples());
  }

  /// False if the level of the delays changes, here and below.
  bool take_head(const std::vector<std::int64_t>& breaks) {
    std::int64_t end = std::ssize(forward_.couples());
    if (!breaks.empty()) {
      end = std::max<std::int64_t>(*std::min_element(breaks.begin(), breaks.end()) - k_doubtful, 0);
    }
    head_.assign(forward_.couples().begin(), forward_.couples().begin() + end);
    if (end > 0) {
      middle_.send_from = head_.back().send + 1;
      middle_.receive_from = head_.back().receive + 1;
    }
    return forward_.level_from(0, end);
  }
  bool take_tail() {
    const std::vector<std::int64_t> breaks = backward_.breaks();
    const Couples& all = backward_.couples();
    first_ = 0;
    if (!breaks.empty()) {
      first_ = std::min<std::int64_t>(*std::max_element(breaks.begin(), breaks.end()) + k_doubtful,
                                      std::ssize(all));
    }
    while (first_ < std::ssize(all) && !middle_.holds(all[first_])) ++first_;
    tail_.assign(all.begin() + first_, all.end());
    if (!tail_.empty()) {
      middle_.send_to = tail_.front().send;
      middle_.receive_to = tail_.front().receive;
    }
    return backward_.level_from(first_, std::ssize(all));
  }

  /// All couples, if either the delays or an alignment of all ends confirm both halves.
  [[nodiscard]] std::optional<Alignment> joined() const {
    const std::int64_t head = std::ssize(head_), from = std::max<std::int64_t>(head - k_near, 0);
    const std::int64_t to = std::min(first_ + k_near, std::ssize(backward_.couples()));
    const bool clear = forward_.clear(from, head) && backward_.clear(first_, to);
    if (clear &&
        size_of(minus(forward_.quartiles(from, head)[1], backward_.quartiles(first_, to)[1])) >
            forward_.apart(from, head) / 4) {
      return std::nullopt;
    }
    Couples known = head_;
    known.insert(known.end(), tail_.begin(), tail_.end());
    Couples inside;
    if (clear && sends_.ordinals.absolute) {
      inside = forward_.near(forward_.quartiles(from, head)[1], forward_.apart(from, head) / 4);
      std::erase_if(inside, [&](const Couple& couple) { return !middle_.holds(couple); });
    } else if (delays_alone(sends_, receives_)) {
      if (!clear) return std::nullopt;
    } else {
      Row all_sends = sends_, all_receives = receives_;
      all_sends.whole = all_receives.whole = 0;
      const Alignment aligned = align_rows(all_sends, all_receives);
      const Agreement agreement(aligned.couples, known);
      if (!clear && (!agreement.good() || 2 * agreement.same < known.size())) return std::nullopt;
      if (agreement.good()) {
        std::copy_if(aligned.couples.begin(), aligned.couples.end(), std::back_inserter(inside),
                     [&](const Couple& couple) { return middle_.holds(couple); });
      }
    }
    Alignment result;
    if (!middle_.empty() && !gap_in_middle()) {
      result.ambiguous =
          std::min(middle_.send_to - middle_.send_from, middle_.receive_to - middle_.receive_from) -
          std::ssize(inside);
    }
    result.couples = head_;
    result.couples.insert(result.couples.end(), inside.begin(), inside.end());
    result.couples.insert(result.couples.end(), tail_.begin(), tail_.end());
    return result;
  }

 private:
  [[nodiscard]] bool gap_in_middle() const {
    const auto gap = [](const Row& row, std::uint32_t from, std::uint32_t to) {
      return Line(row).gap(static_cast<std::int32_t>(from) - 1, static_cast<std::int32_t>(to));
    };
    return gap(sends_, middle_.send_from, middle_.send_to) ||
           gap(receives_, middle_.receive_from, middle_.receive_to);
  }

  const Row &sends_, &receives_;
  const Match& forward_;
  Match backward_;
  Couples head_, tail_;
  std::int64_t first_ = 0;  ///< of the tail, among all counted from the end
  Middle middle_;
};

}  // namespace

bool delays_alone(const Row& sends, const Row& receives) {
  const std::uint32_t kinds = std::min(sends.ordinals.kinds, receives.ordinals.kinds);
  if (kinds < 2 || kinds > 4 || sends.traits.empty()) return false;
  for (const Row* row : {&sends, &receives}) {
    for (const Trait& trait : row->traits) {
      if (trait.symbol != sends.traits[0].symbol) return false;
    }
  }
  return true;
}

std::optional<Alignment> couple_by_ordinals(const Row& sends, const Row& receives) {
  if (sends.traits.empty() || receives.traits.empty()) return std::nullopt;
  if (std::min(sends.ordinals.trust, receives.ordinals.trust) < k_trust) return std::nullopt;
  const bool begins_in_gap = sends.traits[0].after_gap || receives.traits[0].after_gap;
  const bool ends_in_gap = sends.ends_in_gap || receives.ends_in_gap;
  const Match forward(sends, receives, false);
  const std::vector<std::int64_t> breaks = forward.breaks();
  std::optional<Alignment> result;
  if (breaks.empty() && !begins_in_gap && !ends_in_gap) {
    if (sends.ordinals.count != receives.ordinals.count ||
        !forward.level_from(0, std::ssize(forward.couples()))) {
      return std::nullopt;
    }
    result.emplace().couples = forward.couples();
  } else {
    Halves halves(sends, receives, forward);
    if (!begins_in_gap && !halves.take_head(breaks)) return std::nullopt;
    if (!ends_in_gap && !halves.take_tail()) return std::nullopt;
    result = halves.joined();
    if (!result) return std::nullopt;
  }
  count_in_gaps(sends, receives, *result);
  return result;
}

}  // namespace entrain::verify
