// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "chrome/sequences.hpp"

/// All ways in which calls of two sequences can belong together.
namespace entrain::chrome {

/// Wall clocks are right to this, ns: a way that puts them further apart is none, even if it is the
/// only one. Windows of different steps of one loop look alike.
constexpr std::int64_t k_wall = 50'000'000;

/// Ends of one collective are never closer than that to each other, as far as anybody can tell, ns.
constexpr std::int64_t k_least_roughness = 1'000;

/// Calls that must agree by their ends before a way counts for anything.
constexpr std::size_t k_least_matched = 3;

/// Enough calls to be taken for the truth: k_least_matched, and three for each that is lost. Less
/// is enough to put that in doubt.
bool is_strong(const Alignment& way);

/// The ways that put clocks apart by less than twice k_wall, as once the clocks are set by one way,
/// others are as near as that. Each has two pairs or more, and loses no more calls than it pairs:
/// that is enough for the truth where windows hardly meet.
///
/// `all` is false where there are so many that the rest was not looked for.
struct Ways {
  std::vector<Alignment> found;
  bool all = true;
};
Ways ways_between(const Sequence& a, const Sequence& b);

/// The ways in which a sequence resembles itself some time later: steps of a loop.
Ways repetitions_of(const Sequence& sequence);

/// The offsets that partners show, in order of the first sequence.
std::vector<KnownOffset> offsets_of(const Sequence& a, const Sequence& b, const Alignment& way);

/// By how much offsets change from one to the next, in order of size. `divisor`: what clocks drift,
/// which is left out; 0: nothing is.
std::vector<std::int64_t> changes_of(const std::vector<KnownOffset>& offsets,
                                     std::int64_t divisor = 0);

/// As far as the ends of two calls move apart in `ns` where both clocks are slewed.
std::int64_t drift_in(std::int64_t ns);

/// The same where they drift as usual.
std::int64_t usual_drift_in(std::int64_t ns);

/// The middle one; 0 of none.
std::int64_t median_of(std::vector<std::int64_t> values);

}  // namespace entrain::chrome
