// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/recorded_clock.hpp"

namespace entrain::verify {

/// One end of a message, as far as it tells which end on the other side it belongs to.
struct Trait {
  std::uint64_t time = 0;      ///< trace::RecordedClock::time() of its stamp, ticks
  std::uint32_t position = 0;  ///< operations of its process before it that both sides know of
  std::uint32_t symbol = 0;    ///< only ends with equal symbols can belong together
  std::uint32_t doubt = trace::RecordedClock::k_unknown;  ///< RecordedClock::doubt() of its stamp
  /// Ticks from begin to end of a call that nobody leaves before all have come; else k_unknown.
  std::uint32_t stay = trace::RecordedClock::k_unknown;
  /// Of such a call: when the other process sent the last message that had arrived before the call
  /// began, by its clock; 0: there was none.
  std::uint64_t news = 0;
  bool after_gap = false;  ///< a gap ended between the end before it and this one
  bool displaced = false;  ///< Deed::displaced: no ordinal can be relied on
};

/// A stop of a process, long enough that many of its records may be missing there.
struct Stop {
  std::uint32_t end = 0;  ///< index of the first end of the row after it
  std::uint64_t ticks = 0;
};

/// What the habit of a process says of a row. All empty or 0 if there is none.
struct Ordinals {
  std::span<const std::uint32_t> of;  ///< per end: its number, those without a record counted
  std::uint32_t count = 0;            ///< of all, with those after the last end
  std::span<const Stop> stops;        ///< in order
  std::uint32_t kinds = 0;            ///< of deeds of the process
  std::uint32_t trust = 0;            ///< bits against a whole turn of the habit without records
  bool absolute = false;              ///< ends that are missing do not change those of the others

  [[nodiscard]] bool any() const { return kinds > 0; }
};

/// One side of a channel: its ends in posting order, or in that of the habit of their process.
struct Row {
  std::span<const Trait> traits;
  std::uint32_t position = 0;  ///< as Trait::position, at the end of the trace
  bool ends_in_gap = false;    ///< a gap ends after the last end, or never
  std::uint32_t whole = 0;     ///< leading ends among which none is missing
  Ordinals ordinals = {};
  std::span<const std::uint32_t> places = {};  ///< per end: its index in posting order
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

/// Counts the ends before, between and behind the couples whose partner's row has a gap there.
void count_in_gaps(const Row& sends, const Row& receives, Alignment& alignment);

/// Leaves all ends of two rows without partner. Those that gaps do not explain are ambiguous.
Alignment leave_open(const Row& sends, const Row& receives);

/// Pairs two rows of which both may lack ends (docs/method.md, section 2.1): in order as far as
/// both are whole. Looks at no ordinals. Integers only. O(n + m) for n sends and m receives.
///
/// Example: sends at 100, 200, ..., 50000, receives at 105, 205, ..., 50005 without the one at
/// 1005; equal symbols. Each process makes one other operation between two of its ends, so
/// positions are 0, 1, ..., 499, those of the receives without 9. To leave out the send at 1000
/// costs one loss, all delays are 5 and no positions move. To leave out another one would delay all
/// those between, and move them. So the 499 couples are certain. Had only 20 been sent, less would
/// be.
Alignment align_rows(const Row& sends, const Row& receives);

}  // namespace entrain::verify
