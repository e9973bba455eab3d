// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "trace/share.hpp"
#include "trace/witness.hpp"
#include "verify/edges.hpp"
#include "verify/outline.hpp"
#include "verify/space_counts.hpp"

namespace entrain::verify {

/// The outcome of number_calls().
struct NumberedCalls {
  std::size_t claims = 0;  ///< number of claims about calls of this member
  std::string refuted;     ///< the first calls whose claim does not hold; empty: all hold
  const char* why = nullptr;
};

/// Numbers the calls in all spaces from `first` on by the claims of a witness, as some calls are
/// missing. Without a claim, the calls of a process keep their numbers if they are as many as those
/// of the reference, with the same operations in order; else they get none.
///
/// Afterwards Outline::Call::order holds these numbers, or k_none; such columns have the length of
/// the reference's, and `spaces` has the limits. Counts the calls without a number.
/// `outlines`: those of this member. Collective. O(n).
///
/// Example: process 0 makes calls A, B, C on the world. The trace of process 1 has only A and C,
/// which the witness numbers 0 and 2. Nobody of process 1 is in the instance of B.
NumberedCalls number_calls(const trace::Share& share, const trace::Witness& witness,
                           SpaceIndex first, std::span<Outline> outlines, SpaceCounts& spaces,
                           Unmatched& unmatched);

}  // namespace entrain::verify
