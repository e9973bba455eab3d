// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "match/align_records.hpp"

namespace entrain::match {

/// A time of a process without operations, so long that many may be missing there.
struct Pause {
  std::uint32_t end = 0;     ///< index of the first end of the side after it
  std::uint64_t length = 0;  ///< ticks
};

/// Side of a channel of a process with a routine: its ends, and their numbers with missing ones
/// counted.
struct NumberedSide {
  Side side;
  std::span<const std::uint32_t> numbers;  ///< strictly increasing, per end
  std::uint32_t total = 0;                 ///< number of ends, missing ones included
  std::span<const Pause> pauses;           ///< sorted
  std::uint32_t kinds = 0;                 ///< kinds of operations of the process
  std::uint32_t evidence = 0;              ///< evidence against the loss of a whole round, bits
  bool independent = false;                ///< a missing end does not change the numbers of others
};

/// Pairs ends of equal numbers where both processes have a routine (docs/method.md, section 2.1).
/// Nothing if the numbers contradict each other, or the evidence is too weak.
///
/// Example: sends have the numbers 0, 1, 2, 4 and 5, and receives 0, 1, 3, 4 and 5; the totals are
/// 6. Those of equal numbers are pairs: send 3 and receive 2 are missing. Counted one by one, the
/// receive of number 3 would seem to belong to the send of number 2.
///
/// O(n + m) for n sends and m receives.
std::optional<Alignment> pair_by_numbers(const NumberedSide& sends, const NumberedSide& receives);

/// True if only delays distinguish the ends of these sides: all have one symbol, and a process has
/// few kinds of operations. In lockstep, wrong pairs have delays as steady as right ones. O(n + m).
bool only_delays_distinguish(const NumberedSide& sends, const NumberedSide& receives);

}  // namespace entrain::match
