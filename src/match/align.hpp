// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "trace/recorded_clock.hpp"

namespace entrain::match {

/// What is known of one end of a message, or of one call of a collective, when records may be
/// missing.
struct Trait {
  std::uint64_t time = 0;      ///< ticks, as an OTF2 reader shows it (RecordedClock)
  std::uint32_t position = 0;  ///< operations of its process before it that concern the other one
  std::uint32_t symbol = 0;    ///< ends that belong together have equal symbols: a code of the size
  std::uint32_t doubt = trace::RecordedClock::k_unknown;  ///< as RecordedClock::doubt() of the time
  /// Ticks since the begin of a call that ends after all others began; k_unknown for other ends.
  std::uint32_t lasted = trace::RecordedClock::k_unknown;
  /// Of such a call: the latest time of the other process at which it sent a message that had come
  /// before the call began; 0: none had.
  std::uint64_t heard = 0;
  bool after_gap = false;  ///< nothing was recorded just before it
  bool displaced = false;  ///< its place among the others is a guess
};

/// One side of a channel: its ends in posting order.
struct Side {
  std::span<const Trait> traits;
  std::uint32_t position = 0;  ///< at the end of the trace
  bool ends_in_gap = false;    ///< nothing was recorded after the last end
};

/// What became of the ends of both sides.
struct Alignment {
  /// (index of the send, index of the receive), in order on both sides.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
  std::uint64_t ambiguous = 0;  ///< receives that have a likely partner, but not for certain
  std::uint64_t in_gaps = 0;    ///< ends whose partner was not recorded, as its side has a gap
  std::uint64_t lost = 0;       ///< ends whose partner's record is missing for no known reason
  /// Pairs that were looked at: what the computation cost.
  std::uint64_t looked_at = 0;
};

/// Finds out which sends belong to which receives where some of both are missing from the trace
/// (docs/method.md, section 2.1). A pair is only returned if every other explanation is far less
/// likely: better none than a wrong one.
///
/// An explanation pairs some sends with some receives of equal symbols, in order on both sides. Its
/// cost, in bits, adds up
///   - what the loss of records costs: as much for a stretch of ends without partner of a side,
///     however long, and more where both sides lost some; nothing where the other side has a gap;
///   - how far the two processes drift apart in their counts of operations, from one pair to the
///     next: receive.position - send.position stays the same in a program that repeats itself;
///   - how far the delay of each pair is from the middle of the delays of the 16 pairs before it,
///     compared with what is usual on this channel. Clocks need not agree for that.
/// The cheapest explanation is taken. Its pairs count where every explanation without them costs
/// far more. Where nothing is odd, no explanations are compared, unless much is lost. Where the
/// ends agree in order but for their delays, other pairs would be believed for steady delays alone:
/// then nothing is paired. Two processes that wait for each other run in steps of their schedulers,
/// and delays are as steady between neighbouring steps.
///
/// Example: sends at 100, 200, 300, 400; receives at 105, 205, 405; equal symbols. The cheapest
/// explanation leaves out the third send: delays of 5, 5 and 5. To leave out the fourth one
/// instead would make the last delay 105.
///
/// Integers only, so that the result is the same everywhere. O(n + m) for n sends and m receives.
Alignment align(const Side& sends, const Side& receives);

/// The same where the first `certain` ends of both sides belong together, one by one.
Alignment align_after(std::uint32_t certain, const Side& sends, const Side& receives);

/// Of the first `count` ends of both sides, the number before the first two of unequal symbols.
std::uint32_t equal_symbols(const Side& sends, const Side& receives, std::uint32_t count);

}  // namespace entrain::match
