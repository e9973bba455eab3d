// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>

#include "match/builder.hpp"

namespace entrain::match {

/// Counts of the messages of this member by outcome.
struct MessageFates {
  std::uint64_t pairs = 0;
  std::uint64_t ambiguous = 0;  ///< number of receives
  std::uint64_t in_gaps = 0;    ///< number of sends and receives
};

/// Pairs messages where records may be missing, channel by channel, with align_records().
/// Collective. O(records).
MessageFates match_incomplete_messages(Builder& builder);

}  // namespace entrain::match
