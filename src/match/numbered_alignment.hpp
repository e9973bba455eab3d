// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "match/align_records.hpp"

namespace entrain::match {

/// Pairs ends of equal numbers where both processes have a routine (docs/method.md, section 2.1).
/// Empty if numbers contradict each other or the delays, or if a gap precedes the first end or
/// follows the last one: equal totals then confirm nothing. Also empty if the evidence for the
/// numbers is too weak, or weak where delays are not far steadier than those of pairs with other
/// numbers would be.
///
/// A lost iteration that goes unnoticed shifts all numbers after it: delays jump to another level,
/// or totals differ. Then ends before the first jump are numbered from the begin, and ends after
/// the last one from the end, if delays are alike on both sides.
///
/// Example: sends have the numbers 0, 1, 2, 4 and 5, and receives 0, 1, 3, 4 and 5; the totals are
/// 6. Ends of equal numbers are pairs: send 3 and receive 2 are missing. Without numbers, the
/// third receive (number 3) would seem to belong to the third send (number 2).
///
/// O(n + m) for n sends and m receives.
std::optional<Alignment> pair_by_numbers(const Side& sends, const Side& receives);

/// Ends of equal numbers.
struct NumberedPairs {
  IndexPairs pairs;            ///< those that may belong together
  std::size_t impossible = 0;  ///< number of those that may not (may_pair())
  std::size_t unclear = 0;     ///< number of those whose number other ends may have, too
};

/// Finds the ends whose numbers are equal if `shift` is added to those of sends. O(n + m).
NumberedPairs equal_numbers(const Side& sends, const Side& receives, std::int64_t shift);

/// True if there are sends, and all ends have one symbol. O(n + m).
bool are_alike(const Side& sends, const Side& receives);

/// True if only delays distinguish the ends of these sides: all have one symbol, and a process has
/// few kinds of operations. In lockstep, wrong pairs have delays as steady as right ones. O(n + m).
bool only_delays_distinguish(const Side& sends, const Side& receives);

}  // namespace entrain::match
