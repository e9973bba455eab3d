// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace entrain::kineto {

/// Thresholds of pairing calls without numbers (sequences.hpp): chosen, not measured, unless a test
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

}  // namespace entrain::kineto
