// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/ids.hpp"

namespace entrain::verify {

/// An operation as far as habits are concerned.
struct Deed {
  std::uint32_t kind = 0;  ///< equal for operations that a program takes for the same
  bool displaced = false;  ///< its place is unknown: others of its like are listed where posted
  bool call = false;       ///< of a collective
};

/// Something that a process did, in its order: a deed, or one of which there is no record.
struct Turn {
  std::uint32_t deed = k_none;  ///< index; k_none: without a record
  std::uint32_t kind = 0;
};

/// A process whose deeds repeat each other.
struct Habit {
  bool firm = false;           ///< false: nothing can be told, and there are no turns
  std::vector<Turn> turns;     ///< displaced deeds only where their place was found
  std::uint64_t unlisted = 0;  ///< turns that are missing from the deeds where they belong
};

/// Tells from what follows what in a process which deeds are missing (docs/method.md, section 2.1).
/// O(n) for n deeds of which few are unusual.
///
/// Example: the kinds 1 2 3 1 2 3 1 2 3 and so on, but once 1 2 3 1 3 1 2 3. After 2 3 1 nearly
/// always comes 2, and then 3: there is a turn of kind 2 without a record.
Habit find_habit(std::span<const Deed> deeds);

}  // namespace entrain::verify
