// SPDX-License-Identifier: BSD-3-Clause
#include "chrome/sequences.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "chrome/ways.hpp"

namespace entrain::chrome {
namespace {

/// Ends of one collective are never closer than that to each other, as far as anybody can tell, ns.
constexpr std::int64_t k_least_roughness = 1'000;
/// Ranks leave a collective within microseconds, single ones later: ends of most calls are so
/// close.
constexpr std::int64_t k_close = 15'000;
constexpr std::size_t k_many = 16;            ///< calls are no chance
constexpr std::int64_t k_rough = 8;           ///< times the usual change is much
constexpr std::int64_t k_rough_of_some = 12;  ///< the same of few calls
constexpr std::size_t k_clear = 8;            ///< calls are not few
constexpr std::size_t k_far_more_lost = 8;    ///< beside three times as many
constexpr std::size_t k_enough = 6;           ///< calls that tell a step of a program
constexpr std::size_t k_neighbours = 5;       ///< on each side that tell the offset of a call

/// In the median.
std::int64_t change_of(const std::vector<KnownOffset>& offsets) {
  return median_of(changes_of(offsets));
}

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

/// How many times rougher than the best way a rival must be to be chance. Of few changes all may be
/// small by chance, so that the best way looks better than it is.
std::int64_t rough_times(const Alignment& best) {
  constexpr std::array<std::int64_t, 6> of_few{1'000'000, 1'000'000, 1'000'000, 464, 60, 21};
  if (best.matched < of_few.size()) return of_few[best.matched];
  return best.matched < k_clear ? k_rough_of_some : k_rough;
}

/// Ends that happen to be near each other are no rival of many that coincide: what is uncertain
/// about ends shows in every way, and in a wrong one the steps of the program do as well. Nor is a
/// way in which far more calls are lost: in a wrong one those of both ranks would have to be lost
/// at moments that fit.
bool is_chance(const Alignment& rival, const Alignment& best) {
  if (rival.lost >= 3 * best.lost + k_far_more_lost) return true;
  if (k_many * rival.matched <= best.matched) return true;
  const std::int64_t usual = std::max(best.roughest, k_least_roughness);
  const bool is_rough = rival.roughness > rough_times(best) * usual;
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

bool is_far(const Alignment& way) { return std::abs(way.offset) > k_wall; }

/// The way that most calls speak for.
const Alignment* best_of(const std::vector<Alignment>& ways) {
  const Alignment* best = nullptr;
  for (const Alignment& way : ways) {
    if (is_far(way) || !is_strong(way)) continue;
    if (best == nullptr || weight(way) > weight(*best)) best = &way;
  }
  return best;
}

/// True if another way can be, by the clocks as they are or as the best way sets them.
bool has_rival(const Alignment& best, const std::vector<Alignment>& ways) {
  return std::any_of(ways.begin(), ways.end(), [&](const Alignment& way) {
    const bool may_be = !is_far(way) || std::abs(way.offset - best.offset) <= k_wall;
    return may_be && !is_same(way, best) && !is_chance(way, best);
  });
}

/// After how long the calls of a rank look the same again, as exactly as the best way fits. Then
/// steps that the other rank recorded later fit as well, even if no call of them is in both.
///
/// Example: calls 1, 2 and 3 of a loop of 10 ms at one rank, and 4, 5 and 6 at the other one.
std::int64_t period_of(const Sequence& sequence, const Alignment& best) {
  const Ways repetitions = repetitions_of(sequence);
  std::int64_t period = repetitions.all ? Alignment::k_never : 0;
  for (const Alignment& later : repetitions.found) {
    if (4 * later.matched < best.matched || is_chance(later, best)) continue;
    period = std::min(period, std::abs(later.offset));
  }
  return period;
}

/// A few calls say nothing of a step of the program unless both ranks would see some of it,
/// whatever the clocks are: windows of three calls of a loop of three calls fit each other in any
/// step.
bool says_enough(const Alignment& best, const Sequence& a, const Sequence& b) {
  if (best.matched >= k_enough) return true;
  const std::vector<KnownOffset> pairs = offsets_of(a, b, best);
  const std::int64_t reach = k_wall + std::abs(best.offset);
  const auto first = pairs.begin(), last = pairs.end() - 1;
  return (last - 1)->time - first->time > reach && last->time - (first + 1)->time > reach;
}

/// The way that most calls speak for, if no other one can be.
std::optional<Alignment> decide(const Sequence& a, const Sequence& b, const Ways& ways) {
  const Alignment* best = best_of(ways.found);
  if (best == nullptr || !ways.all || !is_close(*best) || has_rival(*best, ways.found)) {
    return std::nullopt;
  }
  if (!says_enough(*best, a, b)) return std::nullopt;
  Alignment only = *best;
  only.period = std::min(period_of(a, only), period_of(b, only));
  if (only.period <= k_wall + std::abs(only.offset)) return std::nullopt;
  return only;
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
  const Ways ways = ways_between(a, b);
  result.possible = std::any_of(ways.found.begin(), ways.found.end(), is_strong);
  result.way = decide(a, b, ways);
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
