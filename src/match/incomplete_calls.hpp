// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/calls.hpp"

namespace entrain::match {

/// A communicator whose calls are aligned: the process with the most calls is its reference.
struct AlignedSpace {
  std::uint32_t reference = k_none;  ///< process; k_none: the calls are numbered as they are
  std::uint32_t calls = 0;           ///< of the reference
};

/// Calls that alignment left out.
struct CallFates {
  std::uint64_t ambiguous = 0, in_gaps = 0;
};

/// Says what must be equal in calls that belong together, in 32 bits.
std::uint32_t symbol_of(const Call& call);

/// Gives every call the number of the call of the reference that it belongs to, and removes those
/// of which that is not certain (align()): so calls of equal number form an instance, in which some
/// processes may be missing. `calls`: of this member's processes, sorted by space and process, in
/// order; `spaces`: one per communicator; `only_gaps`: calls are missing in gaps only, so those
/// before them are numbered as they are. Collective.
CallFates number_by_reference(Builder& builder, std::vector<Call>& calls,
                              std::span<const AlignedSpace> spaces, bool only_gaps);

}  // namespace entrain::match
