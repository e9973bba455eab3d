// SPDX-License-Identifier: BSD-3-Clause
#include "chrome/settle.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "chrome/ways.hpp"

namespace entrain::chrome {
namespace {

constexpr std::int64_t k_jump = 8;                     ///< times the usual change
constexpr std::int64_t k_known_rate_divisor = 20'000;  // 50 ppm: how well a line tells a drift
constexpr double k_most_are = 1.5;                     ///< times so many steady pairs are most
constexpr std::size_t k_neighbours = 5;  ///< on each side that tell the offset of a call

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

/// As far as ends are from each other that coincide, by the offsets of such.
std::int64_t usual_reach(const std::vector<KnownOffset>& offsets) {
  const std::vector<std::int64_t> changes = changes_of(offsets);
  const std::int64_t usual = changes.empty() ? k_end_spread : changes[changes.size() / 2];
  return std::min(k_jump * std::max(usual, k_least_roughness), k_end_spread / 2);
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

  /// The call that ends within `reach` of call i and has no other one than it twice as near, if it
  /// is the only one to do so.
  [[nodiscard]] std::uint32_t partner_of(std::size_t i, std::int64_t offset,
                                         std::int64_t reach) const {
    const std::uint32_t partner = only_partner(i, offset, reach);
    return partner == only_partner(i, offset, 2 * reach) ? partner : k_no_partner;
  }

 private:
  [[nodiscard]] std::uint32_t only_partner(std::size_t i, std::int64_t offset,
                                           std::int64_t reach) const {
    const auto there = others_.near(a_.at(i), a_.end(i) - offset, reach);
    if (there.count != 1) return k_no_partner;
    const auto here = own_.near(b_.at(there.place), b_.end(there.place) + offset, reach);
    return here.count == 1 ? there.place : k_no_partner;
  }

  const Sequence& a_;
  const Sequence& b_;
  Candidates own_, others_;
};

/// The pairs of a way along which the offset does not jump.
class Steady {
 public:
  Steady(const std::vector<KnownOffset>& pairs, std::int64_t jump)
      : pairs_(pairs), jump_(jump), is_steady_(pairs.size(), 0) {
    const auto [begin, end] = longest_run();
    for (std::size_t k = begin; k < end; ++k) is_steady_[k] = 1;
    first_ = begin;
    last_ = end - 1;
    for (std::size_t k = end; k < pairs.size(); ++k) {
      if (is_in_line(k, last_)) is_steady_[last_ = k] = 1;
    }
    for (std::size_t k = begin; k-- > 0;) {
      if (is_in_line(k, first_)) is_steady_[first_ = k] = 1;
    }
  }

  [[nodiscard]] std::vector<KnownOffset> offsets() const {
    std::vector<KnownOffset> steady;
    for (std::size_t k = 0; k < pairs_.size(); ++k) {
      if (is_steady_[k] != 0) steady.push_back(pairs_[k]);
    }
    return steady;
  }

  /// True if all others are single, with a steady pair on both sides: late ends.
  [[nodiscard]] bool others_are_late_ends() const {
    if (first_ > 0 || last_ + 1 < pairs_.size()) return false;
    for (std::size_t k = 1; k < pairs_.size(); ++k) {
      if (is_steady_[k - 1] == 0 && is_steady_[k] == 0) return false;
    }
    return true;
  }

 private:
  [[nodiscard]] std::pair<std::size_t, std::size_t> longest_run() const {
    std::pair<std::size_t, std::size_t> longest{0, 1};
    for (std::size_t begin = 0, end = 0; begin < pairs_.size(); begin = end) {
      for (end = begin + 1; end < pairs_.size() && goes_on(end); ++end) continue;
      if (end - begin > longest.second - longest.first) longest = {begin, end};
    }
    return longest;
  }
  [[nodiscard]] bool goes_on(std::size_t k) const {
    return std::abs(pairs_[k].offset - pairs_[k - 1].offset) <=
           jump_ + usual_drift_in(pairs_[k].time - pairs_[k - 1].time);
  }

  /// True if a pair is on the line through those that were taken, beyond the one at `near`. A line
  /// tells a drift once it is longer than the way to the pair.
  [[nodiscard]] bool is_in_line(std::size_t k, std::size_t near) const {
    const std::int64_t span = pairs_[last_].time - pairs_[first_].time;
    const std::int64_t distance = pairs_[k].time - pairs_[near].time;
    const bool is_told = span > std::abs(distance);
    const double rate = is_told
                            ? static_cast<double>(pairs_[last_].offset - pairs_[first_].offset) /
                                  static_cast<double>(span)
                            : 0;
    const std::int64_t drift = std::llround(rate * static_cast<double>(distance));
    const std::int64_t unknown =
        is_told ? std::abs(distance) / k_known_rate_divisor : usual_drift_in(distance);
    return std::abs(pairs_[k].offset - pairs_[near].offset - drift) <= jump_ + unknown;
  }

  const std::vector<KnownOffset>& pairs_;
  std::int64_t jump_;
  std::vector<std::uint8_t> is_steady_;
  std::size_t first_ = 0, last_ = 0;  ///< of those that were taken
};

}  // namespace

void settle_doubts(const Sequence& a, const Sequence& b, Alignment& way) {
  const std::vector<KnownOffset> pairs = offsets_of(a, b, way);
  const Steady steady(pairs, usual_reach(pairs));
  if (way.lost == 0 && steady.others_are_late_ends()) return;
  std::vector<KnownOffset> known = steady.offsets();
  if (k_most_are * static_cast<double>(known.size()) < static_cast<double>(pairs.size()))
    known.clear();  // the others may be right
  const std::vector<KnownOffset> curve = smoothed(known);
  const std::int64_t reach = usual_reach(known);
  const Neighbours near(a, b);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint32_t partner = k_no_partner;
    if (known.size() >= k_least_matched) {
      partner = near.partner_of(i, offset_near(curve, a.end(i)).offset, reach);
    }
    const bool had_one = way.partner[i] != k_no_partner;
    way.partner[i] = partner == k_no_partner && had_one ? k_several_partners : partner;
  }
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
  const std::int64_t reach = usual_reach(known);
  std::size_t matched = 0, inside = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const NearOffset near = offset_near(known, a.end(i));
    const std::int64_t end_there = a.end(i) - near.offset;
    inside += b.end(0) <= end_there && end_there <= b.end(b.size() - 1) ? 1 : 0;
    way.partner[i] = neighbours.partner_of(i, near.offset, reach + drift_in(near.distance));
    matched += is_partner(way.partner[i]) ? 1 : 0;
  }
  // Where most have none, those that have one have it by chance.
  if (2 * matched < inside) way.partner.assign(a.size(), k_several_partners);
  return way;
}

}  // namespace entrain::chrome
