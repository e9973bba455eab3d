// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace entrain::verify {

/// Who calls on one communicator, and how often: by process.
using CallCounts = std::map<std::uint32_t, std::uint32_t>;

/// How many messages pairs of processes exchanged, as the first of both counts them.
using MessageCounts = std::map<std::uint32_t, std::map<std::uint32_t, std::uint32_t>>;

/// The process whose calls those of another one are coupled with.
struct CallLink {
  std::uint32_t next = 0;  ///< process; of the reference itself: the reference
  std::uint32_t hops = 0;  ///< to the reference
};

/// Leads all callers to the reference by hops between processes that both count messages with each
/// other (docs/method.md, section 2.1): with the fewest hops between unequal counts; then the
/// fewest calls that the processes on the way, the reference among them, lack of the highest
/// number; then the fewest hops; then over the lowest next process. Callers that no way leads to
/// the reference hop there at once. O(h m) for ways of h hops and m pairs that exchange messages.
///
/// Example: messages go around 0 - 1 - 2 - 3 - 0, the reference is 0, and 1 lacks a call: 2 hops
/// to 3, and 1 and 3 to 0.
std::map<std::uint32_t, CallLink> lead_to_reference(const CallCounts& callers,
                                                    const MessageCounts& messages,
                                                    std::uint32_t reference);

}  // namespace entrain::verify
