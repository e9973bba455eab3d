// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace entrain::match {

/// An operation that a process has surely carried out, although no record tells of it.
struct Missing {
  std::uint32_t before = 0;  ///< the operation that follows it
  std::uint32_t kind = 0;
  friend bool operator==(const Missing&, const Missing&) = default;
};

/// What the operations of a process are like.
struct Routine {
  std::vector<Missing> missing;  ///< in order
  /// True if the process does the same again and again, so that `missing` can be relied on.
  bool is_reliable = false;
};

/// Finds out what is missing from the operations of a process that repeats itself, by what usually
/// follows four of them in a row (docs/method.md, section 2.1). `kinds`: operations of one kind
/// have the same number. `calls`: per kind, true if it is a collective call. O(operations), if few
/// are odd.
///
/// Example: in 1 2 3 4 1 2 3 4 ... 1 2 4 1 2 3 4 ... the 4 is odd: 3 follows 3 4 1 2. Behind 3, a 4
/// is usual again, so a 3 is missing before the 4.
Routine find_routine(std::span<const std::uint32_t> kinds, const std::vector<bool>& calls);

}  // namespace entrain::match
