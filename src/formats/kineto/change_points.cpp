// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/sequences.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <span>

namespace entrain::kineto {
namespace {

/// The alignment of what two ranks recorded on one side of a change point, if ends are as close as
/// those of collectives, and all is paired, or much. It begins with one of the first calls. None if
/// several fit, as in a loop, unless all is paired from there on, one after the other.
std::optional<Alignment> align_next(const Sequence& a, const Sequence& b, bool from_end) {
  std::vector<Alignment> found;
  constexpr std::size_t most = 2 * Threshold::most_near_change_point;
  for (std::size_t start = 0; start < most * most; ++start) {
    const std::size_t i = start / most, k = start % most;
    if (i >= a.size() || k >= b.size()) continue;
    std::optional<Alignment> one =
        candidate_from(a, b, from_end ? a.size() - 1 - i : i, from_end ? b.size() - 1 - k : k);
    if (!one || !is_strong(*one) || !has_close_ends(*one)) continue;
    const bool is_whole = i == k && a.size() == b.size() && one->matched + i == a.size();
    if (is_whole && one->matched >= Threshold::least_matched) return one;
    const std::size_t least =
        one->lost == 0 ? Threshold::least_paired : Threshold::least_paired_of_any_step;
    if (one->matched >= least) found.push_back(*std::move(one));
  }
  std::ranges::stable_sort(found, std::greater(), score);
  const auto is_only_one = [&](const Alignment& best) {
    return std::ranges::all_of(
        found, [&](const Alignment& one) { return is_same(one, best) || is_chance(one, best); });
  };
  const auto best = std::ranges::find_if(found, is_only_one);
  if (best == found.end()) return std::nullopt;
  // Calls on the other side of the change point have the other offset.
  const std::vector<std::size_t> paired = paired_calls(*best);
  const std::size_t first = from_end ? 0 : paired.front();
  const std::size_t last = from_end ? paired.back() + 1 : a.size();
  const std::size_t first_b = from_end ? 0 : best->partner[first];
  const std::size_t last_b = from_end ? std::size_t{best->partner[last - 1]} + 1 : b.size();
  Alignment beyond;
  beyond.lost = best->lost;
  for (std::size_t i = first; i < last; ++i) {
    const std::uint32_t own = best->partner[i];
    beyond.partner.push_back(is_partner(own) ? own - static_cast<std::uint32_t>(first_b) : own);
  }
  refine(a.part(first, last), b.part(first_b, last_b), beyond);
  best->partner.assign(a.size(), k_no_partner);
  add_pairs(beyond, first, first_b, *best);
  return std::move(*best);
}

/// Partners of the calls between two pairs of different offsets, `from` and `to`: of as many calls
/// of both sequences, each that has one of the two offsets gets the next one. Empty for others.
std::vector<std::uint32_t> partners_between(const Sequence& a, const Sequence& b, std::size_t from,
                                            std::size_t to, const Alignment& alignment) {
  const auto& partner = alignment.partner;
  std::vector<std::uint32_t> result;
  if (partner[to] - partner[from] != to - from) return result;
  for (std::size_t i = from + 1; i < to; ++i) {
    const std::size_t other = partner[from] + (i - from);
    const auto is_near = [&](std::size_t known) {
      const std::int64_t offset = a.end(known) - b.end(partner[known]);
      return std::abs(a.end(i) - b.end(other) - offset) <=
             end_tolerance_at(a.end(i) - a.end(known));
    };
    const bool fits = alike(a.at(i), b.at(other)) && (is_near(from) || is_near(to));
    result.push_back(fits ? static_cast<std::uint32_t>(other) : k_no_partner);
  }
  return result;
}

/// Positions of the first offset beyond each change point.
std::vector<std::size_t> changes_in(const std::vector<KnownOffset>& offsets) {
  std::vector<std::size_t> changes;
  for (std::size_t k = 1; k < offsets.size(); ++k) {
    const std::int64_t time = offsets[k].time - offsets[k - 1].time;
    const std::int64_t change = std::abs(offsets[k].offset - offsets[k - 1].offset);
    if (change > end_tolerance_at(time)) changes.push_back(k);
  }
  return changes;
}

/// Pairs the calls at change points. The pairs next to one may have been made by chance: they are
/// given up where that makes more pairs.
void pair_at_change_points(const Sequence& a, const Sequence& b, Alignment& alignment) {
  const std::vector<std::size_t> paired = paired_calls(alignment);
  for (const std::size_t change : changes_in(offsets_of(a, b, alignment))) {
    std::vector<std::uint32_t> best;
    std::size_t first = 0;
    std::ptrdiff_t most = 0;
    for (std::size_t before = 0; before <= Threshold::most_near_change_point; ++before) {
      for (std::size_t after = 0; after <= Threshold::most_near_change_point; ++after) {
        if (before >= change || change + after >= paired.size()) continue;
        const std::size_t from = paired[change - 1 - before], to = paired[change + after];
        if (!is_partner(alignment.partner[from]) || !is_partner(alignment.partner[to])) continue;
        const auto now = std::span(alignment.partner).subspan(from + 1, to - from - 1);
        std::vector<std::uint32_t> next = partners_between(a, b, from, to, alignment);
        const std::ptrdiff_t gain =
            std::ranges::count_if(next, is_partner) - std::ranges::count_if(now, is_partner);
        if (gain <= most) continue;
        most = gain;
        first = from + 1;
        best = std::move(next);
      }
    }
    std::ranges::copy(best, alignment.partner.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

/// Leaves the pairs next to a change point, or to an open end, if calls are lost between them and
/// those before: they may fit by chance. `calls`: those with a partner, the nearest one last.
/// `is_first`: nothing is before the first of these. `partners`: those before any was left.
void leave_loose_pairs(std::vector<std::size_t> calls, bool is_first,
                       const std::vector<std::uint32_t>& partners, Alignment& alignment) {
  const auto apart = [](std::size_t x, std::size_t y) { return x > y ? x - y : y - x; };
  const std::size_t few = Threshold::most_near_change_point;
  for (std::size_t k = calls.size() - std::min(calls.size(), few); k < calls.size(); ++k) {
    const auto partner = [&](std::size_t n) { return partners[calls[n]]; };
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
  const std::vector<std::uint32_t> partners = alignment.partner;
  const auto leave_before = [&](std::size_t k) {
    const auto near = std::span(paired).first(k).last(std::min(k, most));
    leave_loose_pairs({near.begin(), near.end()}, begins, partners, alignment);
  };
  const auto leave_from = [&](std::size_t k) {
    const auto near = std::span(paired).subspan(k, std::min(paired.size() - k, most));
    leave_loose_pairs({near.rbegin(), near.rend()}, ends, partners, alignment);
  };
  const std::vector<OpenEnd> open = open_ends_of(a, b, alignment);
  for (const std::size_t change : changes_in(offsets_of(a, b, alignment))) {
    leave_before(change);
    leave_from(change);
  }
  for (const OpenEnd& end : open) {
    if (end.common == 0) continue;
    end.is_head ? leave_from(0) : leave_before(paired.size());
  }
}

/// Pairs calls at one open end, if that makes more pairs. The pairs next to it may have been made
/// by chance: they are given up where the calls fit better without them.
bool align_open_end(const Sequence& a, const Sequence& b, bool is_head, Alignment& alignment) {
  const std::size_t pairs = paired_calls(alignment).size();
  if (pairs == 0) return false;
  const std::size_t without = std::min(Threshold::most_near_change_point, (pairs - 1) / 2);
  const std::vector<OpenEnd> ends = open_ends_of(a, b, alignment, without);
  const OpenEnd& end = *std::ranges::find(ends, is_head, &OpenEnd::is_head);
  if (end.common < without + Threshold::least_matched) return false;
  const std::optional<Alignment> next =
      align_next(a.part(end.first_a, end.last_a), b.part(end.first_b, end.last_b), is_head);
  const std::vector<std::size_t> own = next ? paired_calls(*next) : std::vector<std::size_t>();
  if (own.empty()) return false;
  Alignment with = alignment;
  const std::size_t place = is_head ? own.back() : own.front();  // of the pair next to the others
  const std::size_t near = end.first_a + place, others = end.first_b + next->partner[place];
  for (std::size_t i = end.first_a; i < end.last_a; ++i) {
    std::uint32_t& partner = with.partner[i];
    const bool is_beyond =
        is_head ? i <= near || partner <= others : i >= near || partner >= others;
    if (is_partner(partner) && is_beyond) partner = k_no_partner;
  }
  add_pairs(*next, end.first_a, end.first_b, with);
  if (paired_calls(with).size() <= pairs) return false;
  alignment = std::move(with);
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
  std::vector<OpenEnd> ends{{.last_a = first, .last_b = alignment.partner[first], .is_head = true},
                            {.first_a = last + 1,
                             .last_a = a.size(),
                             .first_b = std::size_t{alignment.partner[last]} + 1,
                             .last_b = b.size()}};
  for (OpenEnd& end : ends) {
    const auto own = std::span(alignment.partner).subspan(end.first_a, end.last_a - end.first_a);
    const auto ambiguous = static_cast<std::size_t>(std::ranges::count(own, k_several_partners));
    const std::size_t others = end.last_b - end.first_b;
    end.common = std::min(own.size() - ambiguous, others - std::min(others, ambiguous));
  }
  return ends;
}

void align_beyond_change_points(const Sequence& a, const Sequence& b, Alignment& alignment) {
  while (align_open_end(a, b, true, alignment) || align_open_end(a, b, false, alignment)) continue;
  pair_at_change_points(a, b, alignment);
  leave_all_loose_pairs(a, b, alignment);
}

}  // namespace entrain::kineto
