// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace entrain::match {

/// An operation that a process must have executed, although its record is missing.
struct Missing {
  std::uint32_t before = 0;  ///< index of the operation that follows it
  std::uint32_t kind = 0;
  friend bool operator==(const Missing&, const Missing&) = default;
};

/// Result of find_routine().
struct Routine {
  std::vector<Missing> missing;  ///< sorted by position
  bool is_reliable = false;      ///< the process repeats itself, so `missing` is meaningful
};

/// Finds the missing operations of a process that repeats itself, by the kinds that usually follow
/// four operations in a row (docs/method.md, section 2.1). `kinds`: kind of each operation;
/// `calls`: per kind, true for a collective call. O(operations) if few are irregular.
///
/// Example: in 1 2 3 4 1 2 3 4 ... 1 2 4 1 2 3 4 ... the 4 after 1 2 is rare: 3 follows 3 4 1 2.
/// After 3, a 4 is frequent again, so a 3 is missing before the 4.
Routine find_routine(std::span<const std::uint32_t> kinds, const std::vector<bool>& calls);

}  // namespace entrain::match
