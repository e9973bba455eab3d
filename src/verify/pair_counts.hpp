// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <entrain/report.hpp>

#include "base/exact.hpp"
#include "verify/edges.hpp"

namespace entrain::verify {

/// Numbers of pairs, see EdgeStatistics.
struct PairCounts {
  std::uint64_t count = 0;
  std::uint64_t violations = 0;
  std::uint64_t below_latency = 0;
  std::uint64_t equal = 0;

  PairCounts& operator+=(const PairCounts& other) {
    return *this = combined(*this, other, std::plus<>());
  }
  PairCounts& operator-=(const PairCounts& other) {
    return *this = combined(*this, other, std::minus<>());
  }
};

/// Counts the pairs of an instance in O(n log n): sends x receives without those inside one
/// location; if ordered, only those whose send has the lower rank. Ignores cycles.
///
/// Both sides are sorted by location, or by rank if ordered (Instance).
PairCounts count_pairs(std::span<const Moment> sends, std::span<const Moment> receives,
                       bool ordered, const MuTicks& mu);

/// Counts the pairs of an instance whose locations share a clock. `clock_of`: per location.
PairCounts count_pairs_of_one_clock(std::span<const Moment> sends, std::span<const Moment> receives,
                                    bool ordered, const MuTicks& mu,
                                    std::span<const std::uint32_t> clock_of);

/// A pair of an instance, as positions in its two sides.
struct WorstPair {
  std::int64_t margin_ticks = 0;
  std::size_t send = 0;
  std::size_t receive = 0;
};

/// Returns the pair with the smallest receive - send, at most `limit`, or nothing. Pairs inside a
/// dropped component do not count. Among equals, the first receive with its first send. O(n).
std::optional<WorstPair> worst_pair(std::span<const Moment> sends, std::span<const Moment> receives,
                                    bool ordered, const std::vector<bool>& dropped,
                                    std::int64_t limit);

/// Replaces `pairs` by the deciding pair of every receive with a partner, in order: that with its
/// latest send, which bounds its time. `dropped`: see worst_pair(). O(n).
void deciding_pairs(std::span<const Moment> sends, std::span<const Moment> receives, bool ordered,
                    const std::vector<bool>& dropped, std::vector<WorstPair>& pairs);

}  // namespace entrain::verify
