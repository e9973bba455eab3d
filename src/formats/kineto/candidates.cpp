// SPDX-License-Identifier: BSD-3-Clause
#include "formats/kineto/sequences.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "base/stray_times.hpp"

namespace entrain::kineto {
namespace {

/// Extends a pair of calls in one direction. Calls that end together become partners; of two that
/// do not, the one that ends earlier in this direction is lost.
struct Walk {
  const Sequence& a;
  const Sequence& b;
  std::size_t i = 0, j = 0;  ///< first the pair, then the calls that are looked at
  bool is_forth = true;
  bool stops = false;  ///< it ends at a change point of the offset
  Alignment& alignment;
  std::vector<std::size_t>& paired;  ///< gets the calls of the first sequence that get a partner

  std::size_t step = is_forth ? 1 : ~std::size_t{0};                  ///< one back, modulo 2^64
  std::int64_t latest = offset(i, j), least = latest, most = latest;  ///< of pairs, ns
  std::int64_t first_end = a.end(i), latest_end = first_end;
  std::int64_t jitter_sum = 0;  ///< sum of net jitter, ns
  std::size_t matched = 0, lost = 0;
  std::size_t lost_at_match = 0;  ///< calls lost before the latest pair

  /// Returns false if too many calls would be lost, or the jitter is too large.
  bool run() {
    for (i += step, j += step; !first_ended() && !other_ended();) {
      if (agree(i, j)) {
        match();
      } else {
        ++lost;
        (loses_other() ? j : i) += step;
      }
      if (is_hopeless()) return false;
      if (!stops && lost > Threshold::spare_losses + matched / 2) return false;
      if (stops && lost > lost_at_match + Threshold::most_lost_before_change) break;
    }
    alignment.lost += stops ? lost_at_match : lost;
    alignment.matched += matched;
    return true;
  }

  /// True if the walk reached the end of the first sequence, or of the other one.
  [[nodiscard]] bool first_ended() const { return i >= a.size(); }
  [[nodiscard]] bool other_ended() const { return j >= b.size(); }

 private:
  [[nodiscard]] std::int64_t offset(std::size_t own, std::size_t other) const {
    return a.end(own) - b.end(other);
  }
  /// True if the offset is close enough to that of the latest pair, and to those of all pairs.
  [[nodiscard]] bool agree(std::size_t own, std::size_t other) const {
    if (own >= a.size() || other >= b.size()) return false;
    if (&a.at(own) == &b.at(other) || !alike(a.at(own), b.at(other))) return false;  // itself
    const std::int64_t apart = offset(own, other), end = a.end(own);
    return std::abs(apart - latest) <= end_tolerance_at(end - latest_end) &&
           std::max(apart, most) - std::min(apart, least) <= end_tolerance_at(end - first_end);
  }
  /// True if the call of the second sequence has no partner, rather than that of the first one.
  [[nodiscard]] bool loses_other() const {
    if (agree(i, j + step)) return true;
    return !agree(i + step, j) && (is_forth ? offset(i, j) >= latest : offset(i, j) <= latest);
  }
  /// True if the mean jitter is too large. Dense calls find partners by chance for long.
  [[nodiscard]] bool is_hopeless() const {
    return matched >= Threshold::robust_median &&
           jitter_sum > Threshold::hopeless_jitter_ns * static_cast<std::int64_t>(matched);
  }
  void match() {
    const std::int64_t before = std::exchange(latest, offset(i, j));
    const std::int64_t time = a.end(i) - std::exchange(latest_end, a.end(i));
    jitter_sum += std::max<std::int64_t>(0, std::abs(latest - before) - drift_in(time));
    alignment.partner[i] = static_cast<std::uint32_t>(j);
    paired.push_back(i);
    least = std::min(least, latest);
    most = std::max(most, latest);
    ++matched;
    lost_at_match = lost;
    i += step;
    j += step;
  }
};

std::int64_t upper_quartile(const std::vector<std::int64_t>& sorted) {
  return sorted[sorted.size() - 1 - sorted.size() / 4];
}

/// Alignment::net_jitter of these offsets.
std::int64_t net_jitter_of(const std::vector<KnownOffset>& offsets) {
  const std::vector<std::int64_t> net = changes_of(offsets, Threshold::drift_divisor);
  return offsets.size() >= Threshold::robust_median ? net[net.size() / 2] : upper_quartile(net);
}

void measure(const Sequence& a, const Sequence& b, Alignment& alignment) {
  const std::vector<KnownOffset> offsets = offsets_of(a, b, alignment);
  const std::vector<std::int64_t> changes = changes_of(offsets);
  alignment.jitter = changes[changes.size() / 2];
  alignment.upper_jitter = upper_quartile(changes);
  alignment.net_jitter = net_jitter_of(offsets);
  std::vector<KnownOffset> begins;
  for (const std::size_t i : paired_calls(alignment)) {
    const auto apart = static_cast<std::int64_t>(a.at(i).begin - b.at(alignment.partner[i]).begin);
    begins.push_back({a.end(i), apart});
  }
  alignment.net_jitter_of_begins = net_jitter_of(begins);
  std::vector<std::int64_t> plain;
  for (const KnownOffset& one : offsets) plain.push_back(one.offset);
  alignment.offset = median(std::move(plain));
}

/// Calls from which to search: the first and last ones, and some between them. An alignment pairs
/// most calls of its time, so it contains some of these.
std::vector<std::size_t> anchors_of(std::size_t size) {
  std::vector<std::size_t> anchors;
  for (std::size_t k = 0; k < size; ++k) {
    const bool at_end = k < Threshold::anchors_at_end || k + Threshold::anchors_at_end >= size;
    if (at_end || size <= Threshold::anchors || k % (size / Threshold::anchors) == 0) {
      anchors.push_back(k);
    }
  }
  return anchors;
}

/// True if the truth may lose so many: every second one of few calls, a third of many.
bool may_lose(std::size_t matched, std::size_t lost) {
  return lost <= std::min(matched, Threshold::spare_losses + matched / 2);
}

/// Searches candidates from all pairs of calls with which an alignment can begin.
class CandidateSearch {
 public:
  CandidateSearch(const Sequence& a, const Sequence& b) : a_(a), b_(b) {
    current_.partner.assign(a.size(), k_no_partner);
  }

  Candidates run() {
    for (const std::size_t i : anchors_of(a_.size())) search_from(i);
    return std::move(candidates_);
  }
  std::optional<Alignment> from(std::size_t i, std::size_t j) {
    if (!alike(a_.at(i), b_.at(j)) || !fits(i, j, true)) return std::nullopt;
    measure(a_, b_, current_);
    return std::move(current_);
  }

 private:
  void search_from(std::size_t i) {
    for (std::size_t j = 0; j < b_.size(); ++j) {
      if (!may_begin(i, j)) continue;
      if (is_full()) {
        candidates_.complete = false;
        return;
      }
      if (fits(i, j) && is_new()) {
        measure(a_, b_, current_);
        if (is_strong(current_)) strong_.push_back(candidates_.found.size());
        candidates_.found.push_back(current_);
      }
      for (const std::size_t k : paired_) current_.partner[k] = k_no_partner;
      paired_.clear();
    }
  }
  [[nodiscard]] bool is_full() const {
    const std::size_t count = candidates_.found.size();
    return count >= Threshold::most_candidates ||
           count * std::max<std::size_t>(a_.size(), 1) >= Threshold::most_partners;
  }
  [[nodiscard]] bool may_begin(std::size_t i, std::size_t j) const {
    if (&a_ == &b_ && b_.end(j) < a_.end(i) + Threshold::least_period_ns) return false;
    return alike(a_.at(i), b_.at(j)) &&
           std::none_of(strong_.begin(), strong_.end(),
                        [&](std::size_t w) { return candidates_.found[w].partner[i] == j; });
  }
  /// Walks from several calls of a weak candidate may find a better one, or the same one again.
  [[nodiscard]] bool is_new() const {
    return std::none_of(
        candidates_.found.begin(), candidates_.found.end(), [&](const Alignment& alignment) {
          return alignment.matched == current_.matched && alignment.lost == current_.lost &&
                 alignment.partner == current_.partner;
        });
  }

  /// Extends the pair of calls i and j to an alignment; false if too few others match. `stops`: it
  /// ends at change points of the offset.
  bool fits(std::size_t i, std::size_t j, bool stops = false) {
    current_.partner[i] = static_cast<std::uint32_t>(j);
    paired_.push_back(i);
    current_.matched = 1;
    current_.lost = 0;
    Walk back{a_, b_, i, j, false, stops, current_, paired_};
    Walk forth{a_, b_, i, j, true, stops, current_, paired_};
    if (!back.run() || !forth.run()) return false;
    current_.covers_one =
        (back.first_ended() && forth.first_ended()) || (back.other_ended() && forth.other_ended());
    return current_.matched >= 2 && may_lose(current_.matched, current_.lost);
  }

  const Sequence& a_;
  const Sequence& b_;
  Alignment current_;                ///< the one that is tried
  std::vector<std::size_t> paired_;  ///< calls that have a partner in `current_`
  Candidates candidates_;
  std::vector<std::size_t> strong_;  ///< positions of the strong ones in `candidates_`
};

std::int64_t jitter_ratio_for(const Alignment& best) {
  constexpr auto& of_few = Threshold::jitter_ratio_of;
  if (best.matched < of_few.size()) return of_few[best.matched];
  return best.matched < Threshold::few_matched ? Threshold::jitter_ratio_of_few
                                               : Threshold::jitter_ratio;
}

/// True if the rival loses far more calls than the best candidate. If the rival were true, the
/// calls that each rank lost would coincide by the best one: half of the difference. Tests whether
/// that exceeds what coincides by chance.
bool loses_far_more(const Alignment& rival, const Alignment& best) {
  if (rival.lost <= best.lost) return false;
  const double coincident = static_cast<double>(rival.lost - best.lost) / 2;
  const double of_each = static_cast<double>(rival.lost) / 2;
  const double by_chance = of_each * of_each / static_cast<double>(rival.matched + rival.lost);
  return coincident >=
         Threshold::least_common_losses + 2 * by_chance + Threshold::sigmas * std::sqrt(by_chance);
}

}  // namespace

bool is_same(const Alignment& x, const Alignment& y) {
  std::size_t common = 0, equal = 0;
  for (std::size_t i = 0; i < x.partner.size(); ++i) {
    if (x.partner[i] == k_no_partner || y.partner[i] == k_no_partner) continue;
    ++common;
    equal += x.partner[i] == y.partner[i] ? 1 : 0;
  }
  return common > 0 && equal >= std::min(common, Threshold::least_matched);
}

bool is_chance(const Alignment& rival, const Alignment& best) {
  if (loses_far_more(rival, best)) return true;
  if (Threshold::far_more_matched * rival.matched <= best.matched) return true;
  const std::int64_t usual = std::max(best.upper_jitter, Threshold::least_jitter_ns);
  const bool jitters = rival.jitter > jitter_ratio_for(best) * usual;
  const bool is_small = 2 * rival.matched <= best.matched;
  const bool are_many =
      best.matched >= Threshold::many_matched && 4 * best.matched >= 3 * rival.matched;
  return jitters && (is_small || are_many);
}

std::vector<std::size_t> paired_calls(const Alignment& alignment) {
  std::vector<std::size_t> paired;
  for (std::size_t i = 0; i < alignment.partner.size(); ++i) {
    if (is_partner(alignment.partner[i])) paired.push_back(i);
  }
  return paired;
}

std::vector<KnownOffset> offsets_of(const Sequence& a, const Sequence& b,
                                    const Alignment& alignment) {
  std::vector<KnownOffset> result;
  for (const std::size_t i : paired_calls(alignment)) {
    result.push_back({a.end(i), a.end(i) - b.end(alignment.partner[i])});
  }
  return result;
}

std::vector<std::int64_t> changes_of(const std::vector<KnownOffset>& offsets,
                                     std::int64_t divisor) {
  std::vector<std::int64_t> changes;
  for (std::size_t k = 1; k < offsets.size(); ++k) {
    const std::int64_t change = std::abs(offsets[k].offset - offsets[k - 1].offset);
    const std::int64_t time = std::abs(offsets[k].time - offsets[k - 1].time);
    changes.push_back(std::max<std::int64_t>(0, change - (divisor > 0 ? time / divisor : 0)));
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

bool is_strong(const Alignment& alignment) {
  return alignment.matched >= Threshold::least_matched &&
         alignment.lost * Threshold::matched_per_lost <= alignment.matched;
}

std::int64_t score(const Alignment& one) {
  return static_cast<std::int64_t>(one.matched) - static_cast<std::int64_t>(one.lost);
}

bool has_close_ends(const Alignment& one) {
  if (one.net_jitter <= Threshold::close_without_begins_ns) return true;
  // Ranks of two communicators that do the same at the same time begin and end their calls equally
  // close. Ranks of one communicator end them together, whoever begins late.
  return one.net_jitter <= Threshold::jitter_ns &&
         Threshold::begins_to_ends * one.net_jitter <= one.net_jitter_of_begins;
}

Candidates candidates_between(const Sequence& a, const Sequence& b) {
  return CandidateSearch(a, b).run();
}

std::optional<Alignment> candidate_from(const Sequence& a, const Sequence& b, std::size_t i,
                                        std::size_t j) {
  return CandidateSearch(a, b).from(i, j);
}

}  // namespace entrain::kineto
