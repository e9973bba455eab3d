// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "match/builder.hpp"

namespace entrain::match {

/// Counts of the messages of this member by outcome.
struct MessageFates {
  std::uint64_t pairs = 0;
  std::uint64_t ambiguous = 0;  ///< number of receives
  std::uint64_t in_gaps = 0;    ///< number of sends and receives
};

/// Pairs messages where records may be missing, channel by channel, with align_records().
/// `processes`: those of this member. Collective. O(records).
MessageFates match_incomplete_messages(Builder& builder, std::span<const std::uint32_t> processes);

}  // namespace entrain::match
