// SPDX-License-Identifier: BSD-3-Clause
#include "chrome/sequences.hpp"

#include <algorithm>
#include <cstdlib>

namespace entrain::chrome {
namespace {

/// Calls that must agree by their ends before a way counts for anything.
constexpr std::size_t k_least_matched = 3;
/// So many must agree for each one that is lost.
constexpr std::size_t k_matched_per_lost = 3;
constexpr std::int64_t k_drift_divisor = 1000;  // 1,000 ppm: two wall clocks that are both slewed
constexpr std::int64_t k_usual_drift_divisor = 5000;  // 200 ppm
/// Wall clocks are right to this, ns: a way that puts them further apart is none, even if it is the
/// only one. Windows of different steps of one loop look alike.
constexpr std::int64_t k_wall = 50'000'000;
/// Calls from which ways are tried. A way contains most calls of its time, so it meets some of
/// them.
constexpr std::size_t k_anchors = 64, k_anchors_at_end = 16;
/// Ends of one collective are never closer than that to each other, as far as anybody can tell, ns.
constexpr std::int64_t k_least_roughness = 1'000;
/// Ranks leave a collective within microseconds, single ones later: ends of most calls are so
/// close.
constexpr std::int64_t k_close = 15'000;
constexpr std::size_t k_many = 16;       ///< calls are no chance
constexpr std::int64_t k_rough = 8;      ///< times the usual change is much
constexpr std::size_t k_neighbours = 5;  ///< on each side that tell the offset of a call

std::int64_t median_of(std::vector<std::int64_t> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::int64_t drift_in(std::int64_t ns) { return std::abs(ns) / k_drift_divisor; }

/// Walks from two calls that are taken for one, in one direction. Calls that end together are
/// partners, and of two that do not, the nearer one is lost.
class Walk {
 public:
  /// `direction`: 1 or -1. `touched` gets the calls of the first sequence that found a partner.
  Walk(const Sequence& a, const Sequence& b, std::size_t i, std::size_t j, int direction,
       Alignment& way, std::vector<std::size_t>& touched)
      : a_(a),
        b_(b),
        direction_(direction),
        way_(way),
        touched_(touched),
        i_(place(i)),
        j_(place(j)) {
    least_ = most_ = latest_ = a_.end(i) - b_.end(j);
    first_end_ = latest_end_ = a_.end(i);
  }

  /// False where too many calls would be lost.
  bool run() {
    for (i_ += direction_, j_ += direction_; inside();) {
      if (agree(i_, j_)) {
        match();
      } else if (steps_to_match(i_, j_ + direction_)) {
        lose_other();
      } else if (steps_to_match(i_ + direction_, j_)) {
        lose_own();
      } else if (direction_ * (distance(i_, j_) - latest_) < 0) {
        lose_own();
      } else {
        lose_other();
      }
      if (lost_ > 2 + matched_ / 2) return false;
    }
    way_.lost += lost_;
    way_.matched += matched_;
    return true;
  }

  /// True if the first sequence ended, or the other one.
  [[nodiscard]] bool first_ended() const { return !is_place(i_, a_); }
  [[nodiscard]] bool other_ended() const { return !is_place(j_, b_); }

 private:
  static std::int64_t place(std::size_t k) { return static_cast<std::int64_t>(k); }
  static bool is_place(std::int64_t k, const Sequence& sequence) {
    return k >= 0 && k < place(sequence.size());
  }
  [[nodiscard]] bool inside() const { return is_place(i_, a_) && is_place(j_, b_); }
  [[nodiscard]] const Call& own(std::int64_t i) const { return a_.at(static_cast<std::size_t>(i)); }
  [[nodiscard]] const Call& others(std::int64_t j) const {
    return b_.at(static_cast<std::size_t>(j));
  }
  [[nodiscard]] std::int64_t distance(std::int64_t i, std::int64_t j) const {
    return static_cast<std::int64_t>(own(i).end - others(j).end);
  }

  /// Since the call before, and since the first one, ends moved apart no more than they may.
  [[nodiscard]] bool agree(std::int64_t i, std::int64_t j) const {
    if (!alike(own(i), others(j))) return false;
    const std::int64_t apart = distance(i, j);
    const auto end = static_cast<std::int64_t>(own(i).end);
    if (std::abs(apart - latest_) > k_end_spread + drift_in(end - latest_end_)) return false;
    return std::max(apart, most_) - std::min(apart, least_) <=
           k_end_spread + drift_in(end - first_end_);
  }
  [[nodiscard]] bool steps_to_match(std::int64_t i, std::int64_t j) const {
    return is_place(i, a_) && is_place(j, b_) && agree(i, j);
  }

  void match() {
    way_.partner[static_cast<std::size_t>(i_)] = static_cast<std::uint32_t>(j_);
    touched_.push_back(static_cast<std::size_t>(i_));
    latest_ = distance(i_, j_);
    latest_end_ = static_cast<std::int64_t>(own(i_).end);
    least_ = std::min(least_, latest_);
    most_ = std::max(most_, latest_);
    ++matched_;
    i_ += direction_;
    j_ += direction_;
  }
  void lose_own() {
    ++lost_;
    i_ += direction_;
  }
  void lose_other() {
    ++lost_;
    j_ += direction_;
  }

  const Sequence& a_;
  const Sequence& b_;
  int direction_;
  Alignment& way_;
  std::vector<std::size_t>& touched_;
  std::int64_t i_, j_;
  std::int64_t least_ = 0, most_ = 0;  ///< distance of ends of partners
  std::int64_t latest_ = 0;            ///< of the latest ones
  std::int64_t first_end_ = 0, latest_end_ = 0;
  std::size_t matched_ = 0, lost_ = 0;
};

/// The offsets that partners show, in order.
std::vector<KnownOffset> offsets_of(const Sequence& a, const Sequence& b, const Alignment& way) {
  std::vector<KnownOffset> result;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_partner(way.partner[i])) continue;
    result.push_back({a.end(i), a.end(i) - b.end(way.partner[i])});
  }
  return result;
}

/// By how much offsets change from one to the next, in order of size. `divisor`: what clocks drift,
/// which is left out; 0: nothing is.
std::vector<std::int64_t> changes_of(const std::vector<KnownOffset>& offsets,
                                     std::int64_t divisor = 0) {
  std::vector<std::int64_t> changes;
  for (std::size_t k = 1; k < offsets.size(); ++k) {
    const std::int64_t change = std::abs(offsets[k].offset - offsets[k - 1].offset);
    const std::int64_t time = std::abs(offsets[k].time - offsets[k - 1].time);
    changes.push_back(std::max<std::int64_t>(0, change - (divisor > 0 ? time / divisor : 0)));
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

std::int64_t upper_quartile(const std::vector<std::int64_t>& sorted) {
  return sorted[sorted.size() - 1 - sorted.size() / 4];
}

/// In the median.
std::int64_t change_of(const std::vector<KnownOffset>& offsets) {
  return median_of(changes_of(offsets));
}

void measure(const Sequence& a, const Sequence& b, Alignment& way) {
  const std::vector<KnownOffset> offsets = offsets_of(a, b, way);
  const std::vector<std::int64_t> changes = changes_of(offsets);
  way.roughness = changes[changes.size() / 2];
  way.roughest = upper_quartile(changes);
  const std::vector<std::int64_t> net = changes_of(offsets, k_usual_drift_divisor);
  way.looseness = way.matched >= k_many ? net[net.size() / 2] : upper_quartile(net);
  std::vector<std::int64_t> plain;
  for (const KnownOffset& one : offsets) plain.push_back(one.offset);
  way.offset = median_of(std::move(plain));
}

/// Calls from which to try: the first and last ones, and some between them.
std::vector<std::size_t> anchors_of(std::size_t size) {
  std::vector<std::size_t> anchors;
  for (std::size_t k = 0; k < size; ++k) {
    const bool at_end = k < k_anchors_at_end || k + k_anchors_at_end >= size;
    if (at_end || size <= k_anchors || k % (size / k_anchors) == 0) anchors.push_back(k);
  }
  return anchors;
}

/// Finds all ways that put clocks apart by less than twice what wall clocks may be: once they are
/// set by one way, others are as near as that.
class Ways {
 public:
  Ways(const Sequence& a, const Sequence& b) : a_(a), b_(b) {
    for (std::size_t j = 0; j < b.size(); ++j) ends_.push_back(b.end(j));
    way_.partner.assign(a.size(), k_no_partner);
    for (const std::size_t i : anchors_of(a.size())) try_from(i);
  }

  std::vector<Alignment> take() { return std::move(found_); }

 private:
  static constexpr std::size_t k_most_ways = 64;  // whatever they are, they are too many

  void try_from(std::size_t i) {
    const auto from = std::lower_bound(ends_.begin(), ends_.end(), a_.end(i) - 2 * k_wall);
    for (auto at = from; at != ends_.end() && *at <= a_.end(i) + 2 * k_wall; ++at) {
      const auto j = static_cast<std::size_t>(at - ends_.begin());
      if (found_.size() >= k_most_ways || !alike(a_.at(i), b_.at(j)) || is_known(i, j)) continue;
      if (fits(i, j)) {
        measure(a_, b_, way_);
        found_.push_back(way_);
      }
      for (const std::size_t k : touched_) way_.partner[k] = k_no_partner;
      touched_.clear();
    }
  }
  [[nodiscard]] bool is_known(std::size_t i, std::size_t j) const {
    return std::any_of(found_.begin(), found_.end(),
                       [&](const Alignment& way) { return way.partner[i] == j; });
  }

  /// Fills the way in which two calls are one. False if too few others fit.
  bool fits(std::size_t i, std::size_t j) {
    way_.partner[i] = static_cast<std::uint32_t>(j);
    touched_.push_back(i);
    way_.matched = 1;
    way_.lost = 0;
    Walk back(a_, b_, i, j, -1, way_, touched_), forth(a_, b_, i, j, 1, way_, touched_);
    if (!back.run() || !forth.run()) return false;
    way_.covers_one =
        (back.first_ended() && forth.first_ended()) || (back.other_ended() && forth.other_ended());
    return way_.matched >= k_least_matched && way_.lost * k_matched_per_lost <= way_.matched;
  }

  const Sequence& a_;
  const Sequence& b_;
  std::vector<std::int64_t> ends_;
  Alignment way_;                     ///< that is tried
  std::vector<std::size_t> touched_;  ///< calls that have a partner in it
  std::vector<Alignment> found_;
};

/// Two ways that pair some calls alike, so that they put the clocks alike. Where they differ calls
/// end close to each other.
bool is_same(const Alignment& x, const Alignment& y) {
  std::size_t common = 0, equal = 0;
  for (std::size_t i = 0; i < x.partner.size(); ++i) {
    if (x.partner[i] == k_no_partner || y.partner[i] == k_no_partner) continue;
    ++common;
    equal += x.partner[i] == y.partner[i] ? 1 : 0;
  }
  return common > 0 && equal >= std::min(common, k_least_matched);
}

/// Ends that happen to be near each other are no rival of many that coincide: what is uncertain
/// about ends shows in every way, and in a wrong one the steps of the program do as well.
bool is_chance(const Alignment& rival, const Alignment& best) {
  const bool is_rough = rival.roughness > k_rough * std::max(best.roughest, k_least_roughness);
  const bool is_small = 2 * rival.matched <= best.matched;
  const bool are_many = best.matched >= k_many && 4 * best.matched >= 3 * rival.matched;
  return is_rough && (is_small || are_many);
}

/// Steps of a loop are alike to some ten microseconds: one after the other may look like the same
/// one.
bool is_close(const Alignment& way) { return way.looseness <= k_close; }

std::int64_t weight(const Alignment& way) {
  return static_cast<std::int64_t>(way.matched) - static_cast<std::int64_t>(way.lost);
}

/// The way that most calls speak for, if no other one can be.
std::optional<Alignment> decide(const std::vector<Alignment>& ways) {
  const auto is_far = [](const Alignment& way) { return std::abs(way.offset) > k_wall; };
  const Alignment* best = nullptr;
  for (const Alignment& way : ways) {
    if (is_far(way)) continue;
    if (best == nullptr || weight(way) > weight(*best)) best = &way;
  }
  if (best == nullptr) return std::nullopt;
  for (const Alignment& way : ways) {
    if (is_same(way, *best)) continue;
    const bool may_be = !is_far(way) || std::abs(way.offset - best->offset) <= k_wall;
    if (may_be && !is_chance(way, *best)) return std::nullopt;
  }
  if (!is_close(*best)) return std::nullopt;
  return *best;
}

/// What its neighbours say of the offset at the time of each pair.
std::vector<KnownOffset> smoothed(const std::vector<KnownOffset>& pairs) {
  std::vector<KnownOffset> result = pairs;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const std::size_t first = k - std::min(k, k_neighbours);
    const std::size_t last = std::min(pairs.size(), k + k_neighbours + 1);
    std::vector<std::int64_t> near;
    for (std::size_t n = first; n < last; ++n) near.push_back(pairs[n].offset);
    result[k].offset = median_of(std::move(near));
  }
  return result;
}

/// Calls of a sequence that could be one call of another rank, by the offset of the clocks.
class Candidates {
 public:
  explicit Candidates(const Sequence& sequence) : sequence_(sequence) {
    for (std::size_t k = 0; k < sequence.size(); ++k) ends_.push_back(sequence.end(k));
  }

  /// Calls that are like `call` and end within `reach` of `time`: how many, and one of them.
  struct Found {
    std::size_t count = 0;
    std::uint32_t place = k_no_partner;
  };
  [[nodiscard]] Found near(const Call& call, std::int64_t time, std::int64_t reach) const {
    Found found;
    const auto from = std::lower_bound(ends_.begin(), ends_.end(), time - reach);
    for (auto at = from; at != ends_.end() && *at <= time + reach; ++at) {
      const auto k = static_cast<std::uint32_t>(at - ends_.begin());
      if (!alike(call, sequence_.at(k))) continue;
      ++found.count;
      found.place = k;
    }
    return found;
  }

 private:
  const Sequence& sequence_;
  std::vector<std::int64_t> ends_;
};

/// Two sequences, of which calls are looked for by the offset of the clocks.
class Neighbours {
 public:
  Neighbours(const Sequence& a, const Sequence& b) : a_(a), b_(b), own_(a), others_(b) {}

  /// The call that ends within `reach` of call i and has no other one than it so near, if it is the
  /// only one to do so.
  [[nodiscard]] std::uint32_t only_partner(std::size_t i, std::int64_t offset,
                                           std::int64_t reach) const {
    const auto there = others_.near(a_.at(i), a_.end(i) - offset, reach);
    if (there.count != 1) return k_no_partner;
    const auto here = own_.near(b_.at(there.place), b_.end(there.place) + offset, reach);
    return here.count == 1 ? there.place : k_no_partner;
  }

 private:
  const Sequence& a_;
  const Sequence& b_;
  Candidates own_, others_;
};

/// The offsets of pairs whose calls have nothing else near them.
std::vector<KnownOffset> certain_offsets(const Sequence& a, const Sequence& b, const Alignment& way,
                                         const Neighbours& near) {
  std::vector<KnownOffset> certain;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!is_partner(way.partner[i])) continue;
    const std::int64_t offset = a.end(i) - b.end(way.partner[i]);
    if (near.only_partner(i, offset, k_end_spread) == way.partner[i]) {
      certain.push_back({a.end(i), offset});
    }
  }
  return certain;
}

/// Where calls are lost, neither the order of calls that end close to each other says anything, nor
/// that an end is late: it may be that of the next call. Partners are two calls whose ends are as
/// near as ends usually are, if nothing else is nearly as near. What is usual, calls say that have
/// nothing else near them.
void settle_doubts(const Sequence& a, const Sequence& b, Alignment& way) {
  const Neighbours near(a, b);
  const std::vector<KnownOffset> certain = certain_offsets(a, b, way, near);
  const std::vector<KnownOffset> offsets = smoothed(certain);
  const std::int64_t usual = k_rough * std::max(change_of(certain), k_least_roughness);
  const std::int64_t reach = std::min(usual, k_end_spread / 2);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint32_t partner = k_no_partner;
    if (certain.size() >= k_least_matched) {
      const std::int64_t offset = offset_near(offsets, a.end(i)).offset;
      partner = near.only_partner(i, offset, reach);
      if (partner != near.only_partner(i, offset, 2 * reach)) partner = k_no_partner;
    }
    const bool had_one = way.partner[i] != k_no_partner;
    way.partner[i] = partner == k_no_partner && had_one ? k_several_partners : partner;
  }
}

}  // namespace

bool alike(const Call& a, const Call& b) {
  const auto differ = [](std::uint64_t x, std::uint64_t y) { return x != 0 && y != 0 && x != y; };
  return a.operation == b.operation && !differ(a.size, b.size) && !differ(a.step, b.step);
}

Aligned align_sequences(const Sequence& a, const Sequence& b) {
  Aligned result;
  const std::vector<Alignment> ways = Ways(a, b).take();
  result.possible = !ways.empty();
  result.way = decide(ways);
  if (result.way && result.way->lost > 0) settle_doubts(a, b, *result.way);
  return result;
}

std::int64_t reach_at(std::int64_t distance) { return k_end_spread + drift_in(distance); }

NearOffset offset_near(const std::vector<KnownOffset>& known, std::int64_t time) {
  auto at = std::lower_bound(known.begin(), known.end(), time,
                             [](const KnownOffset& one, std::int64_t t) { return one.time < t; });
  if (at == known.end() || (at != known.begin() && time - (at - 1)->time < at->time - time)) --at;
  return {.offset = at->offset, .distance = std::abs(time - at->time)};
}

Alignment align_by_offsets(const Sequence& a, const Sequence& b,
                           const std::vector<KnownOffset>& known) {
  Alignment way;
  way.partner.assign(a.size(), k_no_partner);
  if (known.empty()) return way;
  const Neighbours neighbours(a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const NearOffset near = offset_near(known, a.end(i));
    way.partner[i] = neighbours.only_partner(i, near.offset, reach_at(near.distance));
  }
  return way;
}

}  // namespace entrain::chrome
