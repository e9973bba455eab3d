// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/change_points.hpp"

#include <algorithm>
#include <cstdlib>
#include <span>

#include "formats/kineto/candidates.hpp"
#include "formats/kineto/thresholds.hpp"

namespace entrain::kineto {
namespace {

using Threshold = AlignmentThresholds;

/// The alignment of all that two ranks recorded on one side of a change point, if ends are as close
/// as those of collectives, and all is paired, or much.
std::optional<Alignment> align_next(const Sequence& a, const Sequence& b, bool from_end) {
  std::optional<Alignment> best;
  constexpr std::size_t most = Threshold::most_near_change_point;
  for (std::size_t start = 0; start < most * most; ++start) {
    const std::size_t i = start / most, k = start % most;
    if (i >= a.size() || k >= b.size()) continue;
    std::optional<Alignment> one =
        candidate_from(a, b, from_end ? a.size() - 1 - i : i, from_end ? b.size() - 1 - k : k);
    if (!one || !is_strong(*one) || !has_close_ends(*one)) continue;
    const bool is_whole = one->matched == a.size() && one->matched == b.size();
    const std::size_t least = is_whole         ? Threshold::least_matched
                              : one->lost == 0 ? Threshold::least_paired
                                               : Threshold::least_paired_of_any_step;
    if (one->matched < least || (best && score(*one) <= score(*best))) continue;
    best = std::move(one);
  }
  return best;
}

/// Calls of an alignment that have a partner, in order.
std::vector<std::size_t> paired_calls(const Alignment& alignment) {
  std::vector<std::size_t> paired;
  for (std::size_t i = 0; i < alignment.partner.size(); ++i) {
    if (is_partner(alignment.partner[i])) paired.push_back(i);
  }
  return paired;
}

/// The calls between two pairs of different offsets, one with the next one.
class ChangePoint {
 public:
  /// `from`, `to`: calls of the first sequence that have a partner.
  ChangePoint(const Sequence& a, const Sequence& b, std::size_t from, std::size_t to,
              const Alignment& alignment)
      : a_(a), b_(b), from_(from), to_(to), shift_(shift(from, alignment)) {
    old_ = a.end(from) - b.end(alignment.partner[from]);
    later_ = a.end(to) - b.end(alignment.partner[to]);
    is_even_ = shift(to, alignment) == shift_;
  }

  /// Pairs that are gained if each call that has one of the two offsets is paired with the next
  /// one; negative if there are fewer than before.
  [[nodiscard]] std::int64_t gain(const Alignment& alignment) const {
    std::int64_t gained = 0;
    for (std::size_t i = from_ + 1; i < to_; ++i) {
      gained += (is_even_ && fits(i) ? 1 : 0) - (is_partner(alignment.partner[i]) ? 1 : 0);
    }
    return gained;
  }
  void pair(Alignment& alignment) const {
    for (std::size_t i = from_ + 1; i < to_; ++i) {
      alignment.partner[i] = fits(i) ? static_cast<std::uint32_t>(other(i)) : k_no_partner;
    }
  }

 private:
  static std::int64_t shift(std::size_t i, const Alignment& alignment) {
    return std::int64_t{alignment.partner[i]} - static_cast<std::int64_t>(i);
  }
  [[nodiscard]] std::size_t other(std::size_t i) const {
    return static_cast<std::size_t>(static_cast<std::int64_t>(i) + shift_);
  }
  [[nodiscard]] std::int64_t offset(std::size_t i) const { return a_.end(i) - b_.end(other(i)); }
  [[nodiscard]] bool fits(std::size_t i) const {
    const std::int64_t own = offset(i);
    return alike(a_.at(i), b_.at(other(i))) &&
           std::min(std::abs(own - old_), std::abs(own - later_)) <= Threshold::end_spread_ns;
  }

  const Sequence& a_;
  const Sequence& b_;
  std::size_t from_, to_;
  std::int64_t shift_ = 0;  ///< position in the second sequence less that in the first one
  std::int64_t old_ = 0, later_ = 0;
  bool is_even_ = false;  ///< both sequences have as many calls there
};

/// Positions in `paired`, calls that have a partner, of the first pair beyond each change point.
std::vector<std::size_t> changes_in(const std::vector<std::size_t>& paired, const Sequence& a,
                                    const Sequence& b, const Alignment& alignment) {
  const auto offset = [&](std::size_t k) {
    return a.end(paired[k]) - b.end(alignment.partner[paired[k]]);
  };
  std::vector<std::size_t> changes;
  for (std::size_t k = 1; k < paired.size(); ++k) {
    if (std::abs(offset(k) - offset(k - 1)) > Threshold::end_spread_ns) changes.push_back(k);
  }
  return changes;
}

/// Pairs the calls at change points. The pairs next to one may have been made by chance: they are
/// given up where that makes more pairs.
void pair_at_change_points(const Sequence& a, const Sequence& b, Alignment& alignment) {
  const std::vector<std::size_t> paired = paired_calls(alignment);
  for (const std::size_t change : changes_in(paired, a, b, alignment)) {
    std::optional<ChangePoint> best;
    std::int64_t most = 0;
    for (std::size_t before = 0; before <= Threshold::most_near_change_point; ++before) {
      for (std::size_t after = 0; after <= Threshold::most_near_change_point; ++after) {
        if (before >= change || change + after >= paired.size()) continue;
        const std::size_t from = paired[change - 1 - before], to = paired[change + after];
        if (!is_partner(alignment.partner[from]) || !is_partner(alignment.partner[to])) continue;
        const ChangePoint one(a, b, from, to, alignment);
        if (one.gain(alignment) <= most) continue;
        most = one.gain(alignment);
        best.emplace(one);
      }
    }
    if (best) best->pair(alignment);
  }
}

/// Leaves the pairs next to a change point, or to an open end, if calls are lost between them and
/// those before: they may fit by chance. `calls`: those with a partner, the nearest one last.
/// `is_first`: no call of either sequence is before the first of these.
void leave_loose_pairs(std::vector<std::size_t> calls, bool is_first, Alignment& alignment) {
  const auto apart = [](std::size_t x, std::size_t y) { return x > y ? x - y : y - x; };
  const std::size_t few = Threshold::most_near_change_point;
  for (std::size_t k = calls.size() - std::min(calls.size(), few); k < calls.size(); ++k) {
    const auto partner = [&](std::size_t n) { return alignment.partner[calls[n]]; };
    const bool goes_on =
        k == 0 ? is_first
               : apart(calls[k - 1], calls[k]) == 1 && apart(partner(k - 1), partner(k)) == 1;
    if (goes_on) continue;
    for (; k < calls.size(); ++k) alignment.partner[calls[k]] = k_no_partner;
  }
}

/// The same at all change points, and at open ends that remain.
void leave_all_loose_pairs(const Sequence& a, const Sequence& b, Alignment& alignment) {
  const std::vector<std::size_t> paired = paired_calls(alignment);
  if (paired.empty()) return;
  constexpr std::size_t most = Threshold::most_near_change_point + 1;  // so many are looked at
  const bool begins = paired.front() == 0 && alignment.partner[paired.front()] == 0;
  const bool ends = paired.back() + 1 == a.size() &&
                    std::size_t{alignment.partner[paired.back()]} + 1 == b.size();
  const auto leave_before = [&](std::size_t k) {
    const auto near = std::span(paired).first(k).last(std::min(k, most));
    leave_loose_pairs({near.begin(), near.end()}, begins, alignment);
  };
  const auto leave_from = [&](std::size_t k) {
    const auto near = std::span(paired).subspan(k, std::min(paired.size() - k, most));
    leave_loose_pairs({near.rbegin(), near.rend()}, ends, alignment);
  };
  const std::vector<OpenEnd> open = open_ends_of(a, b, alignment);
  for (const std::size_t change : changes_in(paired, a, b, alignment)) {
    leave_before(change);
    leave_from(change);
  }
  for (const OpenEnd& end : open) {
    if (end.common() < Threshold::least_open) continue;
    end.is_head ? leave_from(0) : leave_before(paired.size());
  }
}

/// Pairs calls at one open end, if that makes more pairs. The pairs next to it may have been made
/// by chance: they are given up where the calls fit better without them.
bool align_open_end(const Sequence& a, const Sequence& b, bool is_head, Alignment& alignment) {
  OpenEnd best_end;
  std::optional<Alignment> best;
  std::int64_t most = 0;  // pairs gained, less calls lost
  for (std::size_t k = 0; k <= Threshold::most_near_change_point; ++k) {
    for (const OpenEnd& end : open_ends_of(a, b, alignment, k)) {
      if (end.is_head != is_head || end.common() < Threshold::least_matched) continue;
      std::optional<Alignment> next =
          align_next(a.part(end.first_a, end.last_a), b.part(end.first_b, end.last_b), is_head);
      const std::int64_t gain = next ? score(*next) - static_cast<std::int64_t>(k) : 0;
      if (gain <= most) continue;
      most = gain;
      best = std::move(next);
      best_end = end;
    }
  }
  if (!best) return false;
  std::fill(alignment.partner.begin() + static_cast<std::ptrdiff_t>(best_end.first_a),
            alignment.partner.begin() + static_cast<std::ptrdiff_t>(best_end.last_a), k_no_partner);
  add_pairs(*best, best_end.first_a, best_end.first_b, alignment);
  return true;
}

}  // namespace

void add_pairs(const Alignment& of_parts, std::size_t first_a, std::size_t first_b,
               Alignment& alignment) {
  for (std::size_t i = 0; i < of_parts.partner.size(); ++i) {
    if (!is_partner(of_parts.partner[i])) continue;
    alignment.partner[first_a + i] = of_parts.partner[i] + static_cast<std::uint32_t>(first_b);
  }
}

std::vector<OpenEnd> open_ends_of(const Sequence& a, const Sequence& b, const Alignment& alignment,
                                  std::size_t without) {
  const std::vector<std::size_t> paired = paired_calls(alignment);
  if (paired.size() <= 2 * without) return {};
  const std::size_t first = paired[without], last = paired[paired.size() - 1 - without];
  return {{.last_a = first, .last_b = alignment.partner[first], .is_head = true},
          {.first_a = last + 1,
           .last_a = a.size(),
           .first_b = std::size_t{alignment.partner[last]} + 1,
           .last_b = b.size()}};
}

void align_beyond_change_points(const Sequence& a, const Sequence& b, Alignment& alignment) {
  while (align_open_end(a, b, true, alignment) || align_open_end(a, b, false, alignment)) continue;
  pair_at_change_points(a, b, alignment);
  leave_all_loose_pairs(a, b, alignment);
}

}  // namespace entrain::kineto
