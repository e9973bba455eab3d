// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "match/builder.hpp"
#include "match/channel_sides.hpp"

namespace entrain::match {

/// Counts of the messages of this member by outcome.
struct MessageFates {
  std::uint64_t pairs = 0;
  std::uint64_t ambiguous = 0;  ///< number of receives
  std::uint64_t in_gaps = 0;    ///< number of sends and receives
};

/// The operations of this member's processes, by process.
struct Sequences {
  std::map<std::uint32_t, Sequence> of_process;
};

/// Pairs messages where records may be missing, channel by channel, with align_records().
/// `operations`: those of this member's processes; leaves them in Builder::sequences. Collective.
/// O(records).
MessageFates match_incomplete_messages(Builder& builder, std::vector<Operations>&& operations);
/// The same of all messages.
MessageFates match_incomplete_messages(Builder& builder);

}  // namespace entrain::match
