// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/calls.hpp"

namespace entrain::match {

/// A communicator or window: the process with the most calls is its reference.
struct AlignedSpace {
  std::uint32_t reference = k_none;  ///< process; k_none: there are no calls
  std::uint32_t calls = 0;           ///< of the reference
  std::uint32_t name = k_none;       ///< in ProcessSides::calls
  bool one_root = true;              ///< all calls of an instance name the same root
};

/// Calls that alignment left out.
struct CallFates {
  std::uint64_t ambiguous = 0, in_gaps = 0;
};

/// Says what must be equal in calls that belong together, in 32 bits. `one_root`: the root, too.
std::uint32_t symbol_of(const Call& call, bool one_root);

/// Gives every call the number of the call of the reference that it belongs to, and removes those
/// of which that is not certain (align()): so calls of equal number form an instance, in which some
/// processes may be missing. `calls`: of this member's processes, sorted by space and process, in
/// order; `spaces`: one per communicator or window; `only_gaps`: calls are missing in gaps only, so
/// those before them are numbered as they are. Collective.
CallFates number_by_reference(Builder& builder, Calls& calls, std::span<const AlignedSpace> spaces,
                              bool only_gaps);

}  // namespace entrain::match
