// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/calls.hpp"

namespace entrain::match {

/// A communicator or window, and its reference: the process with the most calls.
struct AlignedSpace {
  std::uint32_t reference = k_none;  ///< process; k_none: there are no calls
  std::uint32_t calls = 0;           ///< number of calls of the reference
  std::uint32_t name = k_none;       ///< key in ProcessSides::calls
  bool one_root = true;              ///< all calls of an instance name the same root
};

/// Numbers of calls that the alignment removed.
struct CallFates {
  std::uint64_t ambiguous = 0, in_gaps = 0;
};

/// Hash of the fields on which all calls of an instance agree. `one_root`: root included.
std::uint32_t symbol_of(const Call& call, bool one_root);

/// Numbers every call by its partner among the calls of the reference (align_records()), and
/// removes calls whose partner is not certain. Calls of equal number form an instance, in which
/// some processes may be missing. `calls`: of this member's processes, sorted by space and process,
/// in order; `spaces`: one per communicator or window; `only_gaps`: calls are missing in gaps only,
/// so those before the gaps keep their numbers. Collective.
CallFates number_by_reference(Builder& builder, Calls& calls, std::span<const AlignedSpace> spaces,
                              bool only_gaps);

}  // namespace entrain::match
