// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <vector>

#include "formats/kineto/collective_calls.hpp"

/// Alignment of two sequences of calls without numbers, by what the calls are and when they end.
/// Calls may be missing from either sequence.
namespace entrain::kineto {

/// Thresholds of pairing calls without numbers: chosen, not measured, unless a test
/// is named. Together they are held by windows_of_loops_make_no_wrong_pairs (sequences_test.cpp).
struct Threshold {
  // Clocks and ends.
  static constexpr std::int64_t end_spread_ns = 100'000;  ///< most between ends of one collective
  static constexpr std::int64_t least_jitter_ns = 1'000;  ///< smaller jitter counts as this
  static constexpr std::int64_t slew_divisor = 1'000;     ///< 1,000 ppm: both clocks are slewed
  static constexpr std::int64_t drift_divisor = 5'000;    ///< 200 ppm: usual drift
  static constexpr std::int64_t line_divisor = 20'000;    ///< 50 ppm: error of a fitted rate

  // Search for candidates.
  static constexpr std::int64_t least_period_ns = 2 * end_spread_ns;  ///< calls nearer are no loop
  static constexpr std::size_t anchors = 32;         ///< calls of the whole sequence to start from
  static constexpr std::size_t anchors_at_end = 16;  ///< first and last calls to start from
  static constexpr std::size_t most_candidates = 1024;  ///< more: the sequences stay unpaired
  static constexpr std::size_t most_partners = std::size_t{1} << 24;  ///< all candidates: 64 MB
  static constexpr std::size_t spare_losses = 2;    ///< calls lost beyond half of the matched ones
  static constexpr std::size_t robust_median = 16;  ///< fewer calls: upper quartile, not median
  /// Mean jitter, ns, beyond which a walk is abandoned: three times what most may have.
  static constexpr std::int64_t hopeless_jitter_ns = 30'000;

  // Choice of one candidate.
  static constexpr std::size_t least_matched = 3;     ///< fewer matched calls are no evidence
  static constexpr std::size_t matched_per_lost = 3;  ///< matched calls required per lost one
  /// Fewer may be calls of any step (few_calls_may_be_those_of_any_step). A window of less than a
  /// step shows no loop, so that more are needed where the numbers of steps are not known.
  static constexpr std::size_t least_paired = 6, least_paired_of_any_step = 12;
  /// Largest net jitter of ends, ns: steps of a loop are alike to some ten microseconds
  /// (match_test.cpp, steps_that_are_alike_but_not_as_close_as_ends_are_not_paired).
  static constexpr std::int64_t jitter_ns = 15'000;
  /// Net jitter of ends, ns, up to which that of begins is not compared.
  static constexpr std::int64_t close_without_begins_ns = 4'000;
  /// Required ratio of the net jitter of begins to that of ends
  /// (ends_that_are_no_closer_than_begins_are_of_no_collective).
  static constexpr std::int64_t begins_to_ends = 2;

  // Rejection of rivals, which then fit by chance.
  static constexpr std::size_t far_more_matched = 4;  ///< reject if the best matches more times
  static constexpr std::size_t many_matched = 16;     ///< so many do not coincide by chance
  static constexpr std::size_t few_matched = 8;       ///< fewer: jitter_ratio_of_few
  /// Reject if the rival's jitter exceeds so many times the best candidate's.
  static constexpr std::int64_t jitter_ratio = 8, jitter_ratio_of_few = 12;
  /// The ratio by number of matched calls: of few changes all may be small by chance.
  static constexpr std::array<std::int64_t, 6> jitter_ratio_of{1'000'000, 1'000'000, 1'000'000,
                                                               464,       60,        21};
  /// Reject if so many more losses of both ranks coincide than by chance, plus `sigmas` standard
  /// deviations of that (runs_of_even_calls_in_uneven_steps_are_paired).
  static constexpr double least_common_losses = 3, sigmas = 3;

  // Beyond change points.
  static constexpr std::size_t most_near_change_point = 4;  ///< calls that may have either offset
  static constexpr std::size_t least_open = 2;  ///< calls of both at an open end that are told
  /// Calls lost in a row that show a change point: two or three of each sequence.
  static constexpr std::size_t most_lost_before_change = 5;

  // Refinement of pairs.
  static constexpr std::int64_t jump = 8;  ///< multiple of the median jitter that is a jump
  static constexpr double majority = 1.5;  ///< reject offsets if pairs exceed 1.5 * steady ones
  static constexpr std::size_t neighbours = 5;  ///< pairs on each side whose median is the offset
};

constexpr std::uint32_t k_no_partner = ~std::uint32_t{0};
constexpr std::uint32_t k_several_partners = k_no_partner - 1;  ///< ambiguous: it gets none
constexpr bool is_partner(std::uint32_t place) { return place < k_several_partners; }

/// The calls of one group at one rank, in order of their ends.
struct Sequence {
  const RankFile* file = nullptr;
  std::vector<std::uint32_t> calls;  ///< positions in RankFile::calls

  [[nodiscard]] const Call& at(std::size_t k) const { return file->calls[calls[k]]; }
  [[nodiscard]] std::int64_t end(std::size_t k) const { return end_of(calls[k]); }
  [[nodiscard]] std::int64_t end_of(std::uint32_t call) const {
    return static_cast<std::int64_t>(file->calls[call].end);
  }
  [[nodiscard]] std::size_t size() const { return calls.size(); }
  /// The calls from one position to before another one.
  [[nodiscard]] Sequence part(std::size_t first, std::size_t last) const {
    return {file,
            {calls.begin() + static_cast<std::ptrdiff_t>(first),
             calls.begin() + static_cast<std::ptrdiff_t>(last)}};
  }
};

/// True if operation, size and step, where known, are equal.
bool alike(const Call& a, const Call& b);

/// Offset of the clock of one sequence to that of another one, ns, at a time of the first one.
struct KnownOffset {
  std::int64_t time = 0, offset = 0;
};

/// Partners of the calls of two sequences. Jitter is the change of the offset from pair to pair.
///
/// Example: ends of the first sequence at 10, 14 and 30 ms, of the second one at 10.001, 14, 21 and
/// 30.002. The third call of the second one has no partner and lies between calls that have one: it
/// is lost at the first one.
struct Alignment {
  std::vector<std::uint32_t> partner;  ///< position in the second sequence per call of the first
  std::size_t matched = 0;             ///< pairs
  std::size_t lost = 0;  ///< calls of both without a partner, within the time of the other sequence
  std::int64_t offset = 0;        ///< median of first end - second end, ns
  std::int64_t jitter = 0;        ///< median, ns
  std::int64_t upper_jitter = 0;  ///< upper quartile, ns
  /// Median jitter beyond the usual drift, ns; the upper quartile if there are few pairs.
  std::int64_t net_jitter = 0;
  std::int64_t net_jitter_of_begins = 0;  ///< net_jitter computed from begins, ns
  bool covers_one = false;  ///< all calls of one sequence lie in the time of the other one
};

/// Removes the pairs of an alignment that its offsets contradict, and adds missed ones. After a
/// lost call a walk may continue with the next one, if that is closer than ends may be late. So an
/// offset counts only along a run of pairs without a jump; two calls become partners if their ends
/// agree with it and no other call is nearly as near. Single late ends stay if no calls are lost.
///
/// Example: calls at 0, 60, 120 and 3000 us, of which one rank lost the second one. A walk pairs
/// its call at 120 with that at 60, and recovers at 3000. The offset jumps by 60 us and back.
void refine(const Sequence& a, const Sequence& b, Alignment& alignment);

// Candidates of alignment: all ways in which calls of two sequences can belong together.

/// True if enough calls match to accept an alignment: Threshold::least_matched, and
/// matched_per_lost for each lost one. Fewer suffice to make another alignment doubtful.
bool is_strong(const Alignment& alignment);

/// True if both pair some calls alike, and so imply the same offset.
bool is_same(const Alignment& x, const Alignment& y);

/// True if a rival fits by chance: it loses far more calls, matches far fewer, or has far more
/// jitter while the best candidate matches many. The uncertainty of ends is in every candidate; a
/// wrong one adds the variation of the program's steps.
bool is_chance(const Alignment& rival, const Alignment& best);

/// Pairs, less lost calls.
std::int64_t score(const Alignment& one);

/// True if the ends are as close as those of one collective are, and closer than begins.
bool has_close_ends(const Alignment& one);

/// Alignments at any offset. Each has two pairs or more, and loses no more calls than it pairs: the
/// truth may look so where windows hardly overlap. Those of a sequence with itself are with later
/// calls of its own: steps of a loop.
struct Candidates {
  std::vector<Alignment> found;
  bool complete = true;  ///< false: the search stopped at Threshold::most_candidates
};
Candidates candidates_between(const Sequence& a, const Sequence& b);

/// The candidate around the pair of calls i and j, up to change points of the offset.
std::optional<Alignment> candidate_from(const Sequence& a, const Sequence& b, std::size_t i,
                                        std::size_t j);

/// Calls of the first sequence that have a partner, in order.
std::vector<std::size_t> paired_calls(const Alignment& alignment);

/// Offsets between the ends of partners, in order of the first sequence.
std::vector<KnownOffset> offsets_of(const Sequence& a, const Sequence& b,
                                    const Alignment& alignment);

/// Changes from one offset to the next, ascending, ns, without a drift of 1 / `divisor`; 0: none.
std::vector<std::int64_t> changes_of(const std::vector<KnownOffset>& offsets,
                                     std::int64_t divisor = 0);

/// Largest drift between two slewed clocks in `ns`.
inline std::int64_t slew_in(std::int64_t ns) { return std::abs(ns) / Threshold::slew_divisor; }

/// Usual drift between two clocks in `ns`.
inline std::int64_t drift_in(std::int64_t ns) { return std::abs(ns) / Threshold::drift_divisor; }

/// Largest distance of the ends of one collective, ns, `distance` ns from a time of known offset.
inline std::int64_t end_tolerance_at(std::int64_t distance) {
  return Threshold::end_spread_ns + slew_in(distance);
}

// Change points of an offset, where a clock was set: calls beyond fit at another offset.

/// Calls without a partner before the first pair, or after the last one, of both sequences.
struct OpenEnd {
  std::size_t first_a = 0, last_a = 0, first_b = 0, last_b = 0;  ///< positions, from and to before
  bool is_head = false;                                          ///< it lies before the first pair
  /// Calls that both sequences have there, but for those with several plausible partners.
  std::size_t common = 0;
};

/// The open ends of an alignment without `without` pairs at each end; none if no pair is left.
std::vector<OpenEnd> open_ends_of(const Sequence& a, const Sequence& b, const Alignment& alignment,
                                  std::size_t without = 0);

/// Pairs the calls at open ends. Of two ranks that both go on after the last pair, the offset of
/// the clocks has a change point there: one of them was set. Their next calls are the next ones of
/// both, at any offset, if the calls that follow fit that one as well as those of an alignment do.
void align_beyond_change_points(const Sequence& a, const Sequence& b, Alignment& alignment);

/// Copies the pairs of an alignment of two parts, which begin at these positions.
void add_pairs(const Alignment& of_parts, std::size_t first_a, std::size_t first_b,
               Alignment& alignment);

/// Result of align_sequences().
struct AlignmentResult {
  std::optional<Alignment> alignment;  ///< the only plausible one
  /// Offsets at which the calls fit, ns, the best one first: several are as good as each other.
  /// Empty: there is no strong candidate.
  std::vector<std::int64_t> offsets{};
};

/// Aligns sequences of clocks that may be any time apart: all offsets are tried. Three calls must
/// match per lost call, and six in all. Returns no alignment if another one is plausible too, or if
/// the calls of a rank repeat in a loop: then other steps fit as well.
///
/// Where ends coincide clocks may be set, too: if no offset fits all calls, one that fits a half or
/// a quarter of the first sequence is where align_beyond_change_points() goes on.
AlignmentResult align_sequences(const Sequence& a, const Sequence& b, bool ends_coincide = true);

/// Pairs calls whose ends agree by known offsets, within the uncertainty of these. Each call must
/// have exactly one candidate, and most calls must have one. No pairs if `known` is empty.
Alignment align_by_offsets(const Sequence& a, const Sequence& b,
                           const std::vector<KnownOffset>& known);

/// Known offset that is nearest to a time. `known` must not be empty.
struct NearOffset {
  std::int64_t offset = 0, distance = 0;  ///< ns
};
NearOffset offset_near(const std::vector<KnownOffset>& known, std::int64_t time);

}  // namespace entrain::kineto
