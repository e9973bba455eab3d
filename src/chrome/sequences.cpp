// SPDX-License-Identifier: BSD-3-Clause
#include "chrome/sequences.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>

#include "chrome/settle.hpp"
#include "chrome/ways.hpp"

namespace entrain::chrome {
namespace {

/// Ranks leave a collective within microseconds, single ones later: ends of most calls are so
/// close.
constexpr std::int64_t k_close = 15'000;
constexpr std::int64_t k_very_close = 4'000;  ///< ends that are so by themselves
constexpr std::size_t k_many = 16;            ///< calls are no chance
constexpr std::int64_t k_rough = 8;           ///< times the usual change is much
constexpr std::int64_t k_rough_of_some = 12;  ///< the same of few calls
constexpr std::size_t k_clear = 8;            ///< calls are not few
constexpr double k_least_met = 3;             ///< calls lost at both ranks at fitting moments
constexpr std::size_t k_enough = 6;           ///< calls that tell a step of a program

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

/// True if far more calls are lost in a way than in the best one. If it were the true one, those of
/// both ranks would have been lost at moments that fit for the best one: as many as the difference
/// tells, and far more than such moments meet by chance.
bool loses_far_more(const Alignment& rival, const Alignment& best) {
  if (rival.lost <= best.lost) return false;
  const double met = static_cast<double>(rival.lost - best.lost) / 2;
  const double of_each = static_cast<double>(rival.lost) / 2;
  const double by_chance = of_each * of_each / static_cast<double>(rival.matched + rival.lost);
  return met >= k_least_met + 2 * by_chance + 3 * std::sqrt(by_chance);
}

/// Ends that happen to be near each other are no rival of many that coincide: what is uncertain
/// about ends shows in every way, and in a wrong one the steps of the program do as well. Nor is a
/// way in which far more calls are lost: in a wrong one those of both ranks would have to be lost
/// at moments that fit.
bool is_chance(const Alignment& rival, const Alignment& best) {
  if (loses_far_more(rival, best)) return true;
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

/// Ranks of two communicators that do the same at the same time begin and end their calls equally
/// close. Those of one end them together, whoever begins late.
bool ends_are_closer_than_begins(const Alignment& way) {
  return way.looseness <= k_very_close || 2 * way.looseness <= way.looseness_of_begins;
}

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
  if (!says_enough(*best, a, b) || !ends_are_closer_than_begins(*best)) return std::nullopt;
  Alignment only = *best;
  only.period = std::min(period_of(a, only), period_of(b, only));
  if (only.period <= k_wall + std::abs(only.offset)) return std::nullopt;
  return only;
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
  if (result.way) settle_doubts(a, b, *result.way);
  if (result.way &&
      std::none_of(result.way->partner.begin(), result.way->partner.end(), is_partner)) {
    result.way.reset();  // other calls may tell
  }
  return result;
}

}  // namespace entrain::chrome
