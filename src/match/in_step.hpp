// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "match/align.hpp"

namespace entrain::match {

/// A time of a process without operations that is so long that many may be missing there.
struct Pause {
  std::uint32_t end = 0;     ///< number of the first end of the side behind it
  std::uint64_t length = 0;  ///< ticks
};

/// One side of a channel of a process with a routine: its ends, numbered as if none was missing.
struct Numbered {
  Side side;
  std::span<const std::uint32_t> numbers;  ///< per end; increase
  std::uint32_t total = 0;                 ///< ends, with those that are missing
  std::span<const Pause> pauses;           ///< in order
  std::uint32_t kinds = 0;                 ///< of operations of the process
  /// Bits of evidence against a round of operations that is missing as a whole: no routine tells.
  std::uint32_t evidence = 0;
  bool independent = false;  ///< an end that is missing does not change the numbers of others
};

/// Pairs ends of equal numbers where both processes have a routine (docs/method.md, section 2.1).
/// Nothing if the numbers contradict each other, or the routines say too little.
///
/// Example: sends have the numbers 0, 1, 2, 4 and 5, and receives 0, 1, 3, 4 and 5; the totals are
/// 6. Those of equal numbers are pairs: send 3 and receive 2 are missing. Counted one by one, the
/// receive of number 3 would seem to belong to the send of number 2.
///
/// O(n + m) for n sends and m receives.
std::optional<Alignment> pair_in_step(const Numbered& sends, const Numbered& receives);

/// True if delays alone could tell which ends of these sides belong together, and might deceive:
/// all are of one length, and a process does little but send and receive them in turns. In
/// lockstep, wrong pairs have delays as steady as right ones. O(n + m).
bool only_delays_tell(const Numbered& sends, const Numbered& receives);

}  // namespace entrain::match
