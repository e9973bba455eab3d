// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "match/align_records.hpp"
#include "match/calls.hpp"

namespace entrain::match {

/// A communicator or window, and its reference: the process with the most calls.
struct AlignedSpace {
  std::uint32_t reference = k_none;  ///< process; k_none: there are no calls
  std::uint32_t calls = 0;           ///< number of calls of the reference
  std::uint32_t name = k_none;       ///< name among communicators and windows
  bool one_root = true;              ///< all calls of an instance name the same root
};

/// Numbers of calls that the alignment removed.
struct CallFates {
  std::uint64_t ambiguous = 0, in_gaps = 0;
};

/// Sets positions and numbers of the calls of a process, and those of the end of the trace.
/// `messages`: number exchanged with another process before each call, missing ones included;
/// `all`: in all. A call before which as many messages were exchanged as before one of the calls
/// that are known to be `missing` could be that one: it is unclear, as is one of too many calls at
/// a position. Without evidence of a routine there are no numbers, nor with more messages than 32
/// bits can number eight calls each: then the evidence is 0.
void place_calls(std::span<const std::uint32_t> messages, std::span<const std::uint32_t> missing,
                 std::uint32_t all, std::span<EndRecord> calls, SideFacts& facts);

/// Pairs the calls of two processes where some are missing: those after equally many messages, if
/// both have a routine and exchange messages. No pairs if both have a routine, exchange no
/// messages, and all calls are alike. Else, where clock records or unlike calls show that one side
/// lost nothing but one stretch, those before and after it; or what align_records() finds.
///
/// Example: one process calls after 0, 40, 80 and 120 messages, the other after 0, 80 and 120: the
/// second call of the first has no partner.
Alignment pair_calls(const Side& a, const Side& b);

/// Numbers every call by its partner among the calls of the reference (align_records()), and
/// removes calls whose partner is not certain. Calls of equal number form an instance, in which
/// some processes may be missing. `calls`: of this member's processes, sorted by space and process,
/// in order; `spaces`: one per communicator or window; `only_gaps`: calls are missing in gaps only,
/// so those before the gaps keep their numbers. Collective.
CallFates number_by_reference(Builder& builder, Calls& calls, std::span<const AlignedSpace> spaces,
                              bool only_gaps);

}  // namespace entrain::match
