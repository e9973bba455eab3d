// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "match/builder.hpp"

namespace entrain::match {

/// What became of the messages of this member: numbers of records.
struct MessageFates {
  std::uint64_t pairs = 0;
  std::uint64_t ambiguous = 0;  ///< receives
  std::uint64_t in_gaps = 0;    ///< sends and receives
};

/// Pairs messages where records may be missing: by align(), channel by channel. `processes`: those
/// of this member. Collective. O(records).
MessageFates match_incomplete_messages(Builder& builder, std::span<const std::uint32_t> processes);

}  // namespace entrain::match
