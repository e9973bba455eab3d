// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace entrain::verify {

/// One end of a message, as far as it tells which end on the other side it belongs to.
struct Trait {
  std::uint64_t time = 0;      ///< stored stamp, ticks of the clock of its location
  std::uint32_t position = 0;  ///< operations of its process before it that both sides know of
  std::uint32_t symbol = 0;    ///< only ends with equal symbols can belong together
  bool after_gap = false;      ///< a gap ended between the end before it and this one
};

/// One side of a channel: its ends in posting order.
struct Row {
  std::span<const Trait> traits;
  std::uint32_t position = 0;  ///< as Trait::position, at the end of the trace
  bool ends_in_gap = false;    ///< a gap ends after the last end, or never
  std::uint32_t whole = 0;     ///< leading ends among which none is missing
};

/// What became of the ends of two rows.
struct Alignment {
  /// Two indices: in the row of sends, and in the row of receives.
  struct Couple {
    std::uint32_t send = 0, receive = 0;
    friend bool operator==(const Couple&, const Couple&) = default;
  };
  std::vector<Couple> couples;        ///< those that are certain; both indices increase
  std::int64_t ambiguous = 0;         ///< receives that have a likely partner which is not certain
  std::int64_t sends_in_gaps = 0;     ///< without partner where the receives have a gap
  std::int64_t receives_in_gaps = 0;  ///< without partner where the sends have a gap
};

/// Pairs two rows of which both may lack ends (docs/method.md, section 2.1): in order as far as
/// both are whole. Integers only. O(n + m) for n sends and m receives.
///
/// Example: sends at 100, 200, ..., 50000, receives at 105, 205, ..., 50005 without the one at
/// 1005; equal symbols. Each process makes one other operation between two of its ends, so
/// positions are 0, 1, ..., 499, those of the receives without 9. To leave out the send at 1000
/// costs one loss, all delays are 5 and no positions move. To leave out another one would delay all
/// those between, and move them. So the 499 couples are certain. Had only 20 been sent, less would
/// be.
Alignment align_rows(const Row& sends, const Row& receives);

}  // namespace entrain::verify
