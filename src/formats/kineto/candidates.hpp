// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "formats/kineto/sequences.hpp"

/// Candidates of alignment: all ways in which calls of two sequences can belong together.
namespace entrain::kineto {

/// True if enough calls match to accept an alignment: AlignmentThresholds::least_matched, and
/// matched_per_lost for each lost one. Fewer suffice to make another alignment doubtful.
bool is_strong(const Alignment& alignment);

/// True if both pair some calls alike, and so imply the same offset. They differ in calls that end
/// close to each other.
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
/// truth may look so where windows hardly overlap.
struct Candidates {
  std::vector<Alignment> found;
  bool complete = true;  ///< false: the search stopped at AlignmentThresholds::most_candidates
};
Candidates candidates_between(const Sequence& a, const Sequence& b);

/// The alignment around the pair of calls i and j, up to change points of the offset; none if it is
/// no candidate.
std::optional<Alignment> candidate_from(const Sequence& a, const Sequence& b, std::size_t i,
                                        std::size_t j);

/// Alignments of a sequence with later calls of its own: steps of a loop.
Candidates repetitions_of(const Sequence& sequence);

/// Offsets between the ends of partners, in order of the first sequence.
std::vector<KnownOffset> offsets_of(const Sequence& a, const Sequence& b,
                                    const Alignment& alignment);

/// Absolute changes from one offset to the next, ascending, ns. A clock drift of 1 / `divisor` is
/// subtracted; 0: none.
std::vector<std::int64_t> changes_of(const std::vector<KnownOffset>& offsets,
                                     std::int64_t divisor = 0);

/// Largest drift between two slewed clocks in `ns`.
std::int64_t slew_in(std::int64_t ns);

/// Usual drift between two clocks in `ns`.
std::int64_t drift_in(std::int64_t ns);

/// Returns the upper median; 0 for no values.
std::int64_t median_of(std::vector<std::int64_t> values);

}  // namespace entrain::kineto
