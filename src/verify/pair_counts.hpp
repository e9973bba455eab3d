// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include <entrain/report.hpp>

#include "verify/edges.hpp"

namespace entrain::verify {

/// Numbers of pairs. As in EdgeStatistics.
struct PairCounts {
  std::uint64_t count = 0;
  std::uint64_t violations = 0;
  std::uint64_t below_latency = 0;
  std::uint64_t equal = 0;

  PairCounts& operator+=(const PairCounts& other);
  PairCounts& operator-=(const PairCounts& other);
};

/// a - b, without overflow.
inline std::int64_t margin(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  if (!__builtin_sub_overflow(a, b, &difference)) return difference;
  return a < b ? std::numeric_limits<std::int64_t>::min()
               : std::numeric_limits<std::int64_t>::max();
}

/// Counts the pairs of an instance in O(n log n): sends x receives without those inside one
/// location; if ordered, only those whose send has the lower rank. Cycles are not looked at.
///
/// Both sides in order of location, or of rank if ordered, as Instance keeps them.
PairCounts count_pairs(std::span<const Moment> sends, std::span<const Moment> receives,
                       bool ordered, const MuTicks& mu);

/// Those of its pairs whose locations share a clock. `clock_of`: per location.
PairCounts count_pairs_of_one_clock(std::span<const Moment> sends, std::span<const Moment> receives,
                                    bool ordered, const MuTicks& mu,
                                    std::span<const std::uint32_t> clock_of);

/// A pair of an instance, as positions in its two sides.
struct WorstPair {
  std::int64_t margin_ticks = 0;
  std::size_t send = 0;
  std::size_t receive = 0;
};

/// The pair with the smallest receive - send; nothing if there is none up to `limit`. Pairs inside
/// a component for which `dropped` holds are no pairs. Of equals the first receive, and of its
/// sends the first. O(n).
std::optional<WorstPair> worst_pair(std::span<const Moment> sends, std::span<const Moment> receives,
                                    bool ordered, const std::vector<bool>& dropped,
                                    std::int64_t limit);

/// For every receive that has a partner, in their order, the pair with its latest send: the one
/// that decides how early it may be. `dropped` as above. Replaces the contents of `pairs`. O(n).
void deciding_pairs(std::span<const Moment> sends, std::span<const Moment> receives, bool ordered,
                    const std::vector<bool>& dropped, std::vector<WorstPair>& pairs);

}  // namespace entrain::verify
