// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "match/builder.hpp"
#include "trace/recorded_clock.hpp"

namespace entrain::match {

/// End of a message, or one call of a collective, as the alignment compares it.
struct EndRecord {
  std::uint64_t time = 0;      ///< ticks, corrected by clock records (RecordedClock)
  std::uint32_t position = 0;  ///< number of earlier operations that involve the other process
  std::uint32_t number = 0;    ///< number on its side, ends that the routine inserts included
  std::uint32_t symbol = 0;    ///< code of size and kind; partners have equal symbols
  std::uint32_t doubt = trace::RecordedClock::k_unknown;  ///< RecordedClock::doubt()
  /// Ticks of a call that ends after all calls of its instance begin; other ends: k_unknown.
  std::uint32_t duration = trace::RecordedClock::k_unknown;
  bool after_gap = false;  ///< a gap of the recording lies just before it
  bool unclear = false;    ///< another end may have its number, so numbers do not pair it
};

/// Properties of one side of a channel.
struct SideFacts {
  std::uint32_t position = 0;  ///< EndRecord::position of the end of the trace
  std::uint32_t total = 0;     ///< EndRecord::number of the end of the trace
  std::uint32_t kinds = 0;     ///< kinds of operations of the process; 0: it has no routine
  std::uint32_t evidence = 0;  ///< evidence against a mistake in the numbers, bits
  std::uint32_t before_gaps = 0, after_gaps = 0;  ///< ends before all gaps, after all
  bool ends_in_gap = false;                       ///< a gap follows the last end
};

/// Side of a channel: its ends in posting order.
struct Side {
  std::span<const EndRecord> records;
  SideFacts facts;
};

/// (index of the send, index of the receive), in order on both sides.
using IndexPairs = std::vector<std::pair<std::uint32_t, std::uint32_t>>;

struct Alignment {
  IndexPairs pairs;
  std::uint64_t ambiguous = 0;  ///< receives whose likely partner is not certain
  /// Ends whose partner lies in a gap of the other side.
  std::uint64_t sends_in_gaps = 0, receives_in_gaps = 0;
  std::uint64_t lost = 0;            ///< ends whose partner's record is missing outside gaps
  std::uint64_t examined_pairs = 0;  ///< cost of the computation, in pairs

  [[nodiscard]] std::uint64_t in_gaps() const { return sends_in_gaps + receives_in_gaps; }
};

/// Pairs sends with receives where records of some are missing (docs/method.md, section 2.1). A
/// pair is returned only if every alignment without it costs far more: a missing pair is better
/// than a wrong one.
///
/// An alignment pairs some sends with some receives that may belong together (may_pair()), in order
/// on both sides. Its cost, in bits, is the sum of
///   - the cost of lost records: constant for a stretch of unpaired ends of one side, more where
///     both sides lost some, 0 where the other side has a gap;
///   - the cost of a changed shift, receive.position - send.position, from one pair to the next: a
///     repetitive program keeps it;
///   - the cost of the distance of each delay from the median of the 16 delays before it, in units
///     of the usual change of delays on this channel. So clocks need not agree.
/// A beam search (BeamSearch) finds the cheapest alignment. A pair counts if the cheapest alignment
/// without it costs more by a margin. Stretches without irregularities need no search, unless many
/// ends are unpaired. Where only delays can contradict the recorded order, an alignment that shifts
/// ends yields no pairs: in lockstep, all delays are steady.
///
/// Example: sends at 100, 200, 300, 400; receives at 105, 205, 405; equal symbols. The cheapest
/// alignment leaves the third send unpaired: delays are 5, 5 and 5. If it left out the fourth, the
/// last delay would be 105.
///
/// Integers only: equal results on every machine. O(n + m) for n sends and m receives.
Alignment align_records(const Side& sends, const Side& receives);

/// The same if only gaps lose records: the k-th ends before the gaps of both sides are partners,
/// and the k-th last ones after them. `with_gaps`: either process has gaps; else all are partners.
Alignment align_between_gaps(const Side& sends, const Side& receives, bool with_gaps);

/// True if no end of these sides contradicts that only gaps lose records: without gaps both sides
/// have as many ends, and those that align_between_gaps() takes as partners have equal symbols.
bool only_gaps_lose(const Side& sends, const Side& receives, bool with_gaps);

/// True if two ends may belong together: their symbols are equal, and no effect precedes its cause
/// by more than clock errors explain.
[[nodiscard]] bool may_pair(const EndRecord& send, const EndRecord& receive);

}  // namespace entrain::match
