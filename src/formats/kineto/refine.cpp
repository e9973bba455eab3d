// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/sequences.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <deque>
#include <utility>

#include "base/stray_times.hpp"

namespace entrain::kineto {
namespace {

/// Moving median of the offsets.
std::vector<KnownOffset> smoothed(const std::vector<KnownOffset>& pairs) {
  std::vector<KnownOffset> result = pairs;
  for (std::size_t k = 0; k < pairs.size(); ++k) {
    const std::size_t first = k - std::min(k, Threshold::neighbours);
    const std::size_t last = std::min(pairs.size(), k + Threshold::neighbours + 1);
    std::vector<std::int64_t> near;
    for (std::size_t n = first; n < last; ++n) near.push_back(pairs[n].offset);
    result[k].offset = median(std::move(near));
  }
  return result;
}

/// Typical distance between the ends of one collective, estimated from known offsets, ns.
std::int64_t end_tolerance(const std::vector<KnownOffset>& offsets) {
  const std::vector<std::int64_t> changes = changes_of(offsets);
  const std::int64_t usual =
      changes.empty() ? Threshold::end_spread_ns : changes[changes.size() / 2];
  return std::min(Threshold::jump * std::max(usual, Threshold::least_jitter_ns),
                  Threshold::end_spread_ns / 2);
}

/// Number of calls that are like `call` and end within `tolerance` of `time`, and one of them.
struct Found {
  std::size_t count = 0;
  std::uint32_t place = k_no_partner;
};
Found near(const Sequence& sequence, const Call& call, std::int64_t time, std::int64_t tolerance) {
  const auto end_of = [&](std::uint32_t c) { return sequence.end_of(c); };
  const auto from = std::ranges::lower_bound(sequence.calls, time - tolerance, {}, end_of);
  Found found;
  for (auto k = static_cast<std::uint32_t>(from - sequence.calls.begin());
       k < sequence.size() && sequence.end(k) <= time + tolerance; ++k) {
    if (!alike(call, sequence.at(k))) continue;
    ++found.count;
    found.place = k;
  }
  return found;
}

/// The call of the second sequence that ends within `tolerance` of call i of the first one, if both
/// have no other candidate; else k_no_partner.
std::uint32_t only_partner(const Sequence& a, const Sequence& b, std::size_t i, std::int64_t offset,
                           std::int64_t tolerance) {
  const Found there = near(b, a.at(i), a.end(i) - offset, tolerance);
  if (there.count != 1) return k_no_partner;
  const Found here = near(a, b.at(there.place), b.end(there.place) + offset, tolerance);
  return here.count == 1 ? there.place : k_no_partner;
}
/// The same, if they have no other one within twice that.
std::uint32_t partner_of(const Sequence& a, const Sequence& b, std::size_t i, std::int64_t offset,
                         std::int64_t tolerance) {
  const std::uint32_t partner = only_partner(a, b, i, offset, tolerance);
  return partner == only_partner(a, b, i, offset, 2 * tolerance) ? partner : k_no_partner;
}

/// Pairs without a jump of the offset: the longest run, and all others on the line through it.
class SteadyPairs {
 public:
  SteadyPairs(const std::vector<KnownOffset>& pairs, std::int64_t jump)
      : pairs_(pairs), jump_(jump) {
    const auto [begin, end] = longest_run();
    for (std::size_t k = begin; k < end; ++k) steady_.push_back(k);
    for (std::size_t k = end; k < pairs.size(); ++k) {
      if (is_in_line(k, steady_.back())) steady_.push_back(k);
    }
    for (std::size_t k = begin; k-- > 0;) {
      if (is_in_line(k, steady_.front())) steady_.push_front(k);
    }
  }

  [[nodiscard]] std::vector<KnownOffset> offsets() const {
    std::vector<KnownOffset> steady;
    for (const std::size_t k : steady_) steady.push_back(pairs_[k]);
    return steady;
  }

  /// True if each other pair stands between two steady ones: a single late end.
  [[nodiscard]] bool others_are_late_ends() const {
    const auto are_apart = [](std::size_t k, std::size_t next) { return next > k + 2; };
    return steady_.front() == 0 && steady_.back() + 1 == pairs_.size() &&
           std::ranges::adjacent_find(steady_, are_apart) == steady_.end();
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
           jump_ + drift_in(pairs_[k].time - pairs_[k - 1].time);
  }

  /// True if pair k is on the line through the steady ones, extrapolated from the one at `near`.
  /// The line gives a rate if it is longer than the distance to the pair.
  [[nodiscard]] bool is_in_line(std::size_t k, std::size_t near) const {
    const KnownOffset &first = pairs_[steady_.front()], &last = pairs_[steady_.back()];
    const std::int64_t span = last.time - first.time;
    const std::int64_t distance = pairs_[k].time - pairs_[near].time;
    const bool has_rate = span > std::abs(distance);
    const double rate =
        has_rate ? static_cast<double>(last.offset - first.offset) / static_cast<double>(span) : 0;
    const std::int64_t drift = std::llround(rate * static_cast<double>(distance));
    const std::int64_t unknown =
        has_rate ? std::abs(distance) / Threshold::line_divisor : drift_in(distance);
    return std::abs(pairs_[k].offset - pairs_[near].offset - drift) <= jump_ + unknown;
  }

  const std::vector<KnownOffset>& pairs_;
  std::int64_t jump_;
  std::deque<std::size_t> steady_;  ///< positions in order
};

/// Removes pairs beyond a change point of the offset, which fit by chance. Pairs between which both
/// sequences have more calls without a partner than ranks lose are of two runs. On both sides of
/// the call that ends at `time`, short runs and all beyond are left.
void leave_chance_pairs(const Sequence& a, std::int64_t time, Alignment& alignment) {
  auto& partner = alignment.partner;
  const std::vector<std::size_t> paired = paired_calls(alignment);
  const auto is_of_next_run = [&](std::size_t k) {
    std::size_t own = 0, ambiguous = 0;  // calls between the pairs
    for (std::size_t i = paired[k - 1] + 1; i < paired[k]; ++i) {
      ++(partner[i] == k_several_partners ? ambiguous : own);
    }
    const std::size_t others = partner[paired[k]] - partner[paired[k - 1]] - 1;
    return std::min(own, others - std::min(others, ambiguous)) > Threshold::most_lost_before_change;
  };
  std::vector<std::size_t> begins{0};
  std::size_t middle = 0;  // run of the call at `time`
  for (std::size_t k = 1; k < paired.size(); ++k) {
    if (is_of_next_run(k)) begins.push_back(k);
    if (a.end(paired[k]) <= time) middle = begins.size() - 1;
  }
  begins.push_back(paired.size());
  const auto is_long = [&](std::size_t run) {
    return begins[run + 1] - begins[run] >= Threshold::least_paired;
  };
  std::size_t first = middle, last = middle;
  while (first > 0 && is_long(first - 1)) --first;
  while (last + 2 < begins.size() && is_long(last + 1)) ++last;
  for (std::size_t k = 0; k < paired.size(); ++k) {
    if (k < begins[first] || k >= begins[last + 1]) partner[paired[k]] = k_no_partner;
  }
}

}  // namespace

void refine(const Sequence& a, const Sequence& b, Alignment& alignment) {
  const std::vector<KnownOffset> pairs = offsets_of(a, b, alignment);
  const SteadyPairs steady(pairs, end_tolerance(pairs));
  if (alignment.lost == 0 && steady.others_are_late_ends()) return;
  std::vector<KnownOffset> known = steady.offsets();
  if (Threshold::majority * static_cast<double>(known.size()) < static_cast<double>(pairs.size())) {
    known.clear();  // the other pairs may be right
  }
  const std::vector<KnownOffset> curve = smoothed(known);
  const std::int64_t tolerance = end_tolerance(known);
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::uint32_t partner = k_no_partner;
    if (known.size() >= Threshold::least_matched) {
      partner = partner_of(a, b, i, offset_near(curve, a.end(i)).offset, tolerance);
    }
    const bool had_one = alignment.partner[i] != k_no_partner;
    alignment.partner[i] = partner == k_no_partner && had_one ? k_several_partners : partner;
  }
  if (known.empty()) return;
  leave_chance_pairs(a, known[known.size() / 2].time, alignment);
}

NearOffset offset_near(const std::vector<KnownOffset>& known, std::int64_t time) {
  auto at = std::lower_bound(known.begin(), known.end(), time,
                             [](const KnownOffset& one, std::int64_t t) { return one.time < t; });
  if (at == known.end() || (at != known.begin() && time - (at - 1)->time < at->time - time)) --at;
  return {.offset = at->offset, .distance = std::abs(time - at->time)};
}

Alignment align_by_offsets(const Sequence& a, const Sequence& b,
                           const std::vector<KnownOffset>& known) {
  Alignment alignment;
  alignment.partner.assign(a.size(), k_no_partner);
  if (known.empty()) return alignment;
  const std::int64_t tolerance = end_tolerance(known);
  std::size_t matched = 0, inside = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const NearOffset near = offset_near(known, a.end(i));
    const std::int64_t end_there = a.end(i) - near.offset;
    inside += b.end(0) <= end_there && end_there <= b.end(b.size() - 1) ? 1 : 0;
    alignment.partner[i] = partner_of(a, b, i, near.offset, tolerance + slew_in(near.distance));
    matched += is_partner(alignment.partner[i]) ? 1 : 0;
  }
  // If most have no partner, the others have theirs by chance.
  if (2 * matched < inside) alignment.partner.assign(a.size(), k_several_partners);
  return alignment;
}

}  // namespace entrain::kineto
