// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/sequences.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace entrain::kineto {
namespace {

/// The strong candidate with the highest score; null if there is none.
const Alignment* best_of(const std::vector<Alignment>& candidates) {
  const Alignment* best = nullptr;
  for (const Alignment& one : candidates) {
    if (is_strong(one) && (best == nullptr || score(one) > score(*best))) best = &one;
  }
  return best;
}

/// Offsets of candidates that are as plausible as the best one, and of that one.
std::vector<std::int64_t> plausible_offsets(const Alignment& best,
                                            const std::vector<Alignment>& candidates) {
  std::vector<std::int64_t> offsets{best.offset};
  for (const Alignment& one : candidates) {
    if (!is_same(one, best) && !is_chance(one, best)) offsets.push_back(one.offset);
  }
  return offsets;
}

/// Shortest time after which the calls of a rank repeat, as exactly as the best candidate fits; 0:
/// they do not. Then steps that the other rank recorded later fit as well, even if the windows
/// share no call.
///
/// Example: calls 1, 2 and 3 of a loop of 10 ms at one rank, and 4, 5 and 6 at the other one.
std::int64_t period_of(const Sequence& sequence, const Alignment& best) {
  const Candidates repetitions = candidates_between(sequence, sequence);
  std::int64_t period = repetitions.complete ? 0 : Threshold::least_period_ns;
  for (const Alignment& later : repetitions.found) {
    if (4 * later.matched < best.matched || is_chance(later, best)) continue;
    const std::int64_t one = std::abs(later.offset);
    period = period == 0 ? one : std::min(period, one);
  }
  return period;
}

/// True if steps of both calls of all pairs are known.
bool knows_steps(const Alignment& best, const Sequence& a, const Sequence& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::uint32_t j = best.partner[i];
    if (is_partner(j) && (a.at(i).step == 0 || b.at(j).step == 0)) return false;
  }
  return true;
}

/// True if the clocks as they are say so too: the offset is below half the time of the pairs.
/// Clocks that are wrong by the time between two steps would do so by accident only.
bool clocks_agree(const Alignment& best, const Sequence& a, const Sequence& b) {
  const std::vector<KnownOffset> pairs = offsets_of(a, b, best);
  return 2 * std::abs(best.offset) <= pairs.back().time - pairs.front().time;
}

/// True if no other step of a loop can be meant, of which the windows show no second one.
bool identifies_step(const Alignment& best, const Sequence& a, const Sequence& b) {
  if (best.matched >= Threshold::least_paired_of_any_step) return true;
  return best.matched >= Threshold::least_paired &&
         (knows_steps(best, a, b) || clocks_agree(best, a, b));
}

/// Sets the alignment of a result if one candidate only is plausible, else its offsets.
void choose(const Sequence& a, const Sequence& b, const Candidates& candidates,
            AlignmentResult& result) {
  const Alignment* best = best_of(candidates.found);
  if (best == nullptr) return;
  result.offsets = plausible_offsets(*best, candidates.found);
  if (!candidates.complete || result.offsets.size() > 1) return;
  if (!has_close_ends(*best)) return;
  if (!identifies_step(*best, a, b)) return;
  for (const Sequence* one : {&a, &b}) {
    const std::int64_t period = period_of(*one, *best);
    if (period == 0) continue;
    result.offsets.push_back(best->offset + (one == &a ? period : -period));
    return;
  }
  result.alignment = *best;
}

/// Aligns a part of the first sequence: a half, or a quarter, in which no clock was set.
void choose_part(const Sequence& a, const Sequence& b, AlignmentResult& result) {
  for (const std::size_t parts : {std::size_t{2}, std::size_t{4}}) {
    const std::size_t length = a.size() / parts;
    if (length < Threshold::least_paired_of_any_step) return;
    for (std::size_t first = 0; first + length <= a.size(); first += length) {
      const Sequence part = a.part(first, first + length);
      AlignmentResult of_part;
      choose(part, b, candidates_between(part, b), of_part);
      if (!of_part.alignment) continue;
      result = of_part;
      result.alignment->partner.assign(a.size(), k_no_partner);
      add_pairs(*of_part.alignment, first, 0, *result.alignment);
      return;
    }
  }
}

}  // namespace

bool alike(const Call& a, const Call& b) {
  const auto differ = [](std::uint64_t x, std::uint64_t y) { return x != 0 && y != 0 && x != y; };
  return a.operation == b.operation && !differ(a.size, b.size) && !differ(a.step, b.step);
}

AlignmentResult align_sequences(const Sequence& a, const Sequence& b, bool ends_coincide) {
  AlignmentResult result;
  choose(a, b, candidates_between(a, b), result);
  if (ends_coincide && !result.alignment) choose_part(a, b, result);
  if (!result.alignment) return result;
  refine(a, b, *result.alignment);
  if (ends_coincide) align_beyond_change_points(a, b, *result.alignment);
  const auto& partners = result.alignment->partner;
  // Without a pair the clocks are unknown: calls of other groups may decide.
  if (std::none_of(partners.begin(), partners.end(), is_partner)) result.alignment.reset();
  return result;
}

}  // namespace entrain::kineto
