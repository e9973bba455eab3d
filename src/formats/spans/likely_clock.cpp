// SPDX-License-Identifier: BSD-3-Clause
#include "formats/spans/likely_clock.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/big_vector.hpp"
#include "base/exact.hpp"

namespace entrain::spans {
namespace likely {

constexpr std::int64_t k_million = 1'000'000;
/// Beyond all offsets, ns.
constexpr std::int64_t k_lowest = std::numeric_limits<std::int64_t>::min() / 2;

constexpr std::int32_t k_unlimited = std::numeric_limits<std::int32_t>::max();  // bits
constexpr std::size_t k_most_pieces = 256;               // bounds memory: 4 KiB per bound
constexpr std::int64_t k_year = 32'000'000'000'000'000;  // ns

/// True if the right clock breaks it.
bool is_broken(const Bound& bound) { return !holds(bound, 0); }

/// Offsets of one cost.
struct Piece {
  std::int64_t first = k_lowest;  ///< up to that of the next piece
  std::int32_t bits = 0;
};

/// Least costs of all offsets that a clock may have by now, if it is not right: piecewise constant.
class Costs {
 public:
  /// Every offset costs so much.
  void begin(std::int32_t bits) {
    pieces_.assign(1, {k_lowest, bits});
    least_ = bits;
  }

  [[nodiscard]] std::span<const Piece> pieces() const { return pieces_; }
  [[nodiscard]] std::int32_t least() const { return least_; }
  /// The first and the last offset that cost less than this.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> cheaper_than(std::int32_t bits) const {
    const auto is_cheap = [&](const Piece& piece) { return piece.bits < bits; };
    const auto first = std::ranges::find_if(pieces_, is_cheap);
    const auto end = std::find_if(pieces_.rbegin(), pieces_.rend(), is_cheap).base();
    return {first == pieces_.end() ? -k_lowest : first->first,
            end == pieces_.end() ? -k_lowest : end->first - 1};
  }
  /// Every offset may have fallen and risen by so much: the boundary of two pieces moves into the
  /// one that costs more. Pieces between boundaries that meet are gone.
  void widen(std::int64_t fall, std::int64_t rise) {
    wide_.resize(pieces_.size());
    ends_.resize(pieces_.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      std::int64_t first = k_lowest;
      for (; count > 0; --count) {
        const bool is_more = wide_[count - 1].bits < pieces_[i].bits;
        first = is_more ? ends_[count - 1] + rise : pieces_[i].first - fall;
        if (first > wide_[count - 1].first) break;
        first = k_lowest;
      }
      wide_[count] = {first, pieces_[i].bits};
      ends_[count++] = i + 1 < pieces_.size() ? pieces_[i + 1].first : -k_lowest;
    }
    wide_.resize(count);
    std::swap(pieces_, wide_);
  }
  /// No offset costs more than in `others`, and so many bits for the change.
  void limit(const Costs& others, std::int32_t change) {
    wide_.clear();
    for (std::size_t i = 0, j = 0; i < pieces_.size() && j < others.pieces_.size();) {
      const Piece &own = pieces_[i], &other = others.pieces_[j];
      const std::int32_t bits = std::min(own.bits, other.bits + change);
      if (wide_.empty() || wide_.back().bits != bits) {
        wide_.push_back({std::max(own.first, other.first), bits});
      }
      const std::int64_t end = i + 1 < pieces_.size() ? pieces_[i + 1].first : -k_lowest;
      const std::int64_t other_end =
          j + 1 < others.pieces_.size() ? others.pieces_[j + 1].first : -k_lowest;
      i += end <= other_end ? 1 : 0;
      j += other_end <= end ? 1 : 0;
    }
    std::swap(pieces_, wide_);
    least_ = std::min(least_, others.least_ + change);
  }
  /// No offset costs more than `most`; then each pays for the bound if it does not hold. What costs
  /// more than `useless` after that counts as that.
  void limit_and_add(std::int32_t most, const Bound& bound, std::int32_t useless = k_unlimited) {
    const std::int64_t first = bound.is_upper ? bound.offset + 1 : bound.offset;
    const std::int32_t below = bound.is_upper ? 0 : bound.price, above = bound.price - below;
    wide_.resize(pieces_.size() + 1);
    std::size_t count = 0;
    least_ = std::numeric_limits<std::int32_t>::max();
    const auto push = [&](std::int64_t from, std::int32_t bits) {
      if (count > 0 && wide_[count - 1].bits == bits) return;
      wide_[count++] = {from, bits};
      least_ = std::min(least_, bits);
    };
    for (std::size_t i = 0; i < pieces_.size(); ++i) {
      const std::int64_t from = pieces_[i].first;
      const std::int64_t end = i + 1 < pieces_.size() ? pieces_[i + 1].first : -k_lowest;
      const std::int32_t bits = std::min(pieces_[i].bits, most);
      if (from < first) push(from, std::min(bits + below, useless));
      if (end > first) push(std::max(from, first), std::min(bits + above, useless));
    }
    wide_.resize(count);
    std::swap(pieces_, wide_);
  }

 private:
  std::vector<Piece> pieces_, wide_;
  std::vector<std::int64_t> ends_;  ///< ends of wide_ before they moved
  std::int32_t least_ = 0;          ///< least cost of all pieces
};

/// By how much the offset of a clock may have changed between two bounds.
std::int64_t reach_between(const Bound& before, const Bound& after, std::int64_t ppm) {
  constexpr std::int64_t k_short = std::int64_t{1} << 50;
  const Int128 time = Int128{after.time} - before.time;
  if (time < k_short) return static_cast<std::int64_t>(time) * ppm / k_million + 1;  // faster
  return static_cast<std::int64_t>(time * ppm / k_million) + 1;
}

/// The cheapest offset of some pieces from `low` to `high`, the nearest one to `near` of these.
struct Choice {
  std::int64_t offset = 0;
  std::int32_t bits = std::numeric_limits<std::int32_t>::max();
};

Choice cheapest(std::span<const Piece> pieces, std::int64_t low, std::int64_t high,
                std::int64_t near) {
  Choice best;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const std::int64_t first = std::max(pieces[i].first, low);
    const std::int64_t last =
        std::min(i + 1 < pieces.size() ? pieces[i + 1].first - 1 : -k_lowest, high);
    if (first > last) continue;
    const std::int64_t offset = std::clamp(near, first, last);
    const bool is_nearer = std::abs(offset - near) < std::abs(best.offset - near);
    if (pieces[i].bits < best.bits || (pieces[i].bits == best.bits && is_nearer)) {
      best = {offset, pieces[i].bits};
    }
  }
  return best;
}

/// The middle of the cheapest pieces, or their end if the other one is beyond all offsets. Where
/// these are several, it may cost more than they do.
Choice middle(std::span<const Piece> pieces) {
  const Choice low = cheapest(pieces, k_lowest, -k_lowest, k_lowest);
  const Choice high = cheapest(pieces, k_lowest, -k_lowest, -k_lowest);
  if (low.offset == k_lowest) return high.offset == -k_lowest ? Choice{0, low.bits} : high;
  if (high.offset == -k_lowest) return low;
  return {low.offset + (high.offset - low.offset) / 2, low.bits};
}

class Search {
 public:
  /// Least costs of the rest: of the bounds from each one on, for clocks whose offset changes by at
  /// most so many millionths, and `rounding` more between two bounds, or is set. False, too early
  /// to know them all, if no clock costs less than `most`. A bound that holds for all offsets which
  /// cost less than a step, and for the right clock if that costs less, changes no cost that
  /// matters.
  bool look_back(std::span<const Bound> bounds, std::int64_t most_ppm, std::int64_t rounding,
                 std::int32_t most) {
    bounds_ = bounds;
    ppm_ = most_ppm;
    rest_.assign(bounds.size() + 1, 0);
    Costs& costs = kept_[k_steady].costs;
    costs.begin(0);
    std::pair open(k_lowest, -k_lowest);               // offsets that cost less than a step
    std::int64_t moved = 0;                            // by how much they may have changed since
    std::int32_t right = 0, step = ClockPrices::step;  // costs of the right clock, of one set here
    for (std::size_t i = bounds.size(); i-- > 0;) {
      const Bound& bound = bounds[i];
      moved += i + 1 < bounds.size() ? reach(i + 1).rise + rounding : 0;
      const bool holds_for_all =
          bound.is_upper ? open.second + moved <= bound.offset : open.first - moved >= bound.offset;
      rest_[i] = rest_[i + 1];
      if (holds_for_all && (right == step || !is_broken(bound))) continue;
      const std::int64_t change = std::exchange(moved, 0);
      widen(costs, {change, change});
      const std::int32_t least = costs.least() + ClockPrices::step;
      costs.limit_and_add(std::min(least, right + ClockPrices::step), bound);
      right = std::min(right, least) + (is_broken(bound) ? bound.price : 0);
      step = costs.least() + ClockPrices::step;
      right = std::min(right, step);
      open = costs.cheaper_than(std::min(right + ClockPrices::step, step));
      rest_[i] = std::min(costs.least(), right);
      if (rest_[i] >= most) return false;
    }
    return true;
  }
  void forget_rest() { rest_.clear(); }
  /// At least as much as any clock costs that look_back() has seen.
  [[nodiscard]] std::int32_t least_cost() const { return rest_.empty() ? 0 : rest_.front(); }

  /// The cheapest clock whose offset changes by at most so many millionths, is set, or with
  /// `slewed` is slewed, if it costs less than `most`. What costs as much with the rest is not
  /// followed (A*; Hart, Nilsson, Raphael, 1968): mostly a few pieces are left.
  std::optional<LikelyClock> run(std::span<const Bound> bounds, std::int64_t most_ppm,
                                 std::int32_t most, bool slewed = false) {
    bounds_ = bounds;
    ppm_ = most_ppm;
    states_ = slewed ? k_states : 1;
    for (std::size_t s = 0; s < states_; ++s) {
      kept_[s].pieces.clear();
      kept_[s].first.clear();
      kept_[s].costs.begin(ClockPrices::wrong + entry_price(s));
    }
    right_.clear();
    least_.clear();
    Costs& steady = kept_[k_steady].costs;
    std::int32_t right = 0;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      for (std::size_t s = 0; s < states_; ++s) widen(kept_[s].costs, reach(i, s));
      for (std::size_t s = k_steady + 1; s < states_; ++s) {
        kept_[s].costs.limit(steady, ClockPrices::slew);
      }
      for (std::size_t s = k_steady + 1; s < states_; ++s) steady.limit(kept_[s].costs, 0);
      const std::int32_t useless = rest_.empty() ? most : most - rest_[i + 1];
      const std::int32_t least = steady.least();
      least_.push_back(least);
      for (std::size_t s = 0; s < states_; ++s) {
        const std::int32_t set =
            s == k_steady ? std::min(least, right) + ClockPrices::step : k_unlimited;
        kept_[s].costs.limit_and_add(set, bounds[i], useless);
      }
      right = std::min(right, least + ClockPrices::step);
      right += holds(bounds[i], 0) ? 0 : bounds[i].price;
      if (std::min(right, steady.least()) >= useless) return std::nullopt;
      for (std::size_t s = 0; s < states_; ++s) kept_[s].keep();
      right_.push_back(right);
    }
    return trace_back();
  }

 private:
  /// What a clock that is not right does: it keeps its rate, or is slewed forward or back.
  static constexpr std::size_t k_steady = 0, k_forward = 1, k_back = 2, k_states = 3;
  /// By how much an offset may have fallen and risen.
  struct Reach {
    std::int64_t fall = 0, rise = 0;
  };
  /// A state of the clock: what its offsets cost now, and after each bound.
  struct Kept {
    Costs costs;
    BigVector<Piece> pieces;
    BigVector<std::size_t> first;

    void keep() {
      first.push_back(pieces.size());
      pieces.insert(pieces.end(), costs.pieces().begin(), costs.pieces().end());
    }
    [[nodiscard]] std::span<const Piece> after(std::size_t i) const {
      const std::size_t end = i + 1 < first.size() ? first[i + 1] : pieces.size();
      return std::span(pieces).subspan(first[i], end - first[i]);
    }
  };
  /// Where a clock was; empty offset: it was right.
  struct Place {
    std::optional<std::int64_t> offset{};
    std::size_t state = k_steady;
  };

  static std::int32_t entry_price(std::size_t state) {
    return state == k_steady ? 0 : ClockPrices::slew;
  }
  [[nodiscard]] LikelyClock trace_back() const {
    LikelyClock clock{std::vector<std::int64_t>(bounds_.size()), 0};
    Place place = best(bounds_.size() - 1, clock.bits);
    for (std::size_t i = bounds_.size(); i-- > 0;) {
      clock.offsets[i] = place.offset.value_or(0);
      if (i > 0) place = before(i, place);
    }
    return clock;
  }
  /// Lets all offsets change. Of bounds that contradict each other in turns, the offset is known a
  /// little less well.
  static void widen(Costs& costs, Reach reach) {
    costs.widen(reach.fall, reach.rise);
    for (std::int64_t more = 1; costs.pieces().size() > k_most_pieces && more < k_year; more *= 4)
      costs.widen(more, more);
  }
  /// By how much an offset may have changed before a bound.
  [[nodiscard]] Reach reach(std::size_t i, std::size_t state = k_steady) const {
    if (i == 0) return {};
    const std::int64_t own = reach_between(bounds_[i - 1], bounds_[i], ppm_);
    if (state == k_steady) return {own, own};
    const std::int64_t most = reach_between(bounds_[i - 1], bounds_[i], ClockPrices::fast_ppm);
    return state == k_forward ? Reach{own, most} : Reach{most, own};
  }
  /// The cheapest place after a bound. A slew costs as much as if it ended there.
  [[nodiscard]] Place best(std::size_t i, std::int32_t& bits) const {
    const Choice free = middle(kept_[k_steady].after(i));
    bits = std::min(free.bits, right_[i]);
    return right_[i] <= free.bits ? Place() : Place{free.offset};
  }
  /// The place after the bound before.
  [[nodiscard]] Place before(std::size_t i, const Place& place) const {
    const std::int32_t jump = std::min(least_[i], right_[i - 1]) + ClockPrices::step;
    if (!place.offset && right_[i - 1] <= jump) return {};
    Place found;
    std::int32_t least = place.state == k_steady ? jump + 1 : k_unlimited;
    for (std::size_t s = 0; place.offset && s < states_; ++s) {
      const bool begins = s == k_steady && place.state != k_steady;
      if (!begins && place.state != k_steady && s != place.state) continue;
      const auto [fall, rise] = reach(i, s);
      Choice near = cheapest(kept_[s].after(i - 1), *place.offset - rise, *place.offset + fall,
                             *place.offset);
      if (near.bits < k_unlimited && begins) near.bits += ClockPrices::slew;
      if (near.bits >= least) continue;
      least = near.bits;
      found = {near.offset, s};
    }
    if (found.offset) return found;
    std::int32_t bits = 0;
    return best(i - 1, bits);
  }

  std::span<const Bound> bounds_;
  std::int64_t ppm_ = 0;
  std::size_t states_ = 1;  ///< number of states that the clock may have
  std::array<Kept, k_states> kept_;
  std::vector<std::int32_t> rest_;  ///< least cost of the bounds from each one on; empty: unknown
  BigVector<std::int32_t> right_;   ///< cost of a right clock after each bound
  BigVector<std::int32_t> least_;   ///< least cost of all others before each bound
};

/// The rate of a clock over the longest time in which it was not set, millionths.
double rate_of(std::span<const Bound> bounds, const LikelyClock& clock, std::int64_t most_ppm) {
  std::size_t first = 0;
  Int128 longest = 0;
  double ppm = 0;
  for (std::size_t i = 1; i <= bounds.size(); ++i) {
    const auto jumps = [&] {
      const Int128 change = Int128{clock.offsets[i]} - clock.offsets[i - 1];
      const std::int64_t reach = reach_between(bounds[i - 1], bounds[i], most_ppm);
      return change > reach || change < -Int128{reach};
    };
    if (i < bounds.size() && !jumps()) continue;
    const Int128 time = Int128{bounds[i - 1].time} - bounds[first].time;
    if (time > longest) {
      longest = time;
      ppm = static_cast<double>(Int128{clock.offsets[i - 1]} - clock.offsets[first]) * 1e6 /
            static_cast<double>(time);
    }
    first = i;
  }
  return ppm;
}

/// The cheapest clock about a line, if it costs less than `most`: with all rates, a clock would
/// follow ends that are none. The rate is found from coarse to fine: where a clock was set, the
/// cheapest one of any rates may be off at first. Empty, too, if the line has no rate: then it is
/// no other clock.
std::optional<LikelyClock> about_line(Search& search, std::span<const Bound> bounds,
                                      std::int64_t most_ppm, std::int32_t most) {
  double ppm = 0;
  const auto line = [&](const Bound& bound) {
    return static_cast<std::int64_t>(ppm * static_cast<double>(bound.time - bounds.front().time) /
                                     1e6);
  };
  std::vector<Bound> level(bounds.begin(), bounds.end());
  for (const std::int64_t reach : {most_ppm, 4 * ClockPrices::wander_ppm}) {
    ppm += rate_of(level, search.run(level, reach, k_unlimited).value(), reach);
    if (ppm == 0) return std::nullopt;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      level[i].offset = bounds[i].offset - line(bounds[i]);
    }
  }
  std::optional<LikelyClock> clock = search.run(level, ClockPrices::wander_ppm, most);
  for (std::size_t i = 0; clock && i < bounds.size(); ++i) clock->offsets[i] += line(bounds[i]);
  return clock;
}

/// Learns what the rest of the bounds costs at least. False if no clock costs less than `most`.
bool look_back(Search& search, std::span<const Bound> bounds, std::int32_t most) {
  // A clock on a line costs its rate alone. A line has the rate of the longest part of a clock that
  // rounds up once per bound.
  constexpr std::int64_t k_steepest_ppm = 100'000;
  search.forget_rest();
  if (most == k_unlimited) return true;
  const Int128 time = Int128{bounds.back().time} - bounds.front().time;
  const Int128 parts = most / ClockPrices::step + 1;
  const Int128 rounding_ppm =
      k_million * parts * static_cast<std::int64_t>(bounds.size()) / std::max(time, Int128{1});
  return rounding_ppm >= k_steepest_ppm ||
         search.look_back(bounds,
                          ClockPrices::fast_ppm + ClockPrices::wander_ppm + 1 +
                              static_cast<std::int64_t>(rounding_ppm),
                          1, most);
}

}  // namespace likely

ClockFinder::ClockFinder() : search_(std::make_shared<likely::Search>()) {}

std::optional<LikelyClock> ClockFinder::find(std::span<const Bound> bounds, std::int32_t most) {
  if (bounds.empty()) return most > 0 ? std::optional(LikelyClock()) : std::nullopt;
  likely::Search& search = *search_;
  if (!look_back(search, bounds, most)) return std::nullopt;
  std::optional<LikelyClock> best = search.run(bounds, ClockPrices::wander_ppm, most);
  if (best) most = best->bits;
  for (const auto& [ppm, bits] : {std::pair(ClockPrices::usual_ppm, ClockPrices::rate),
                                  std::pair(ClockPrices::fast_ppm, ClockPrices::fast)}) {
    if (bits + search.least_cost() >= most) break;  // no cheaper one has a rate
    std::optional<LikelyClock> clock = likely::about_line(search, bounds, ppm, most - bits);
    if (!clock) continue;
    best = std::move(clock);
    best->bits += bits;
    most = best->bits;
  }
  if (ClockPrices::wrong + ClockPrices::slew + search.least_cost() >= most) return best;
  // Late ends are no evidence: in a queue that grows, work is later and later, as by a clock that
  // is slewed.
  const auto speaks_for_slew = [](const Bound& bound) {
    return bound.is_begin && likely::is_broken(bound);
  };
  if (std::ranges::count_if(bounds, speaks_for_slew) < ClockPrices::slew_begins) return best;
  std::optional<LikelyClock> slewed = search.run(bounds, ClockPrices::wander_ppm, most, true);
  return slewed ? slewed : best;
}

}  // namespace entrain::spans
