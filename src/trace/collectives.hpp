// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <entrain/report.hpp>

#include "base/big_vector.hpp"
#include "base/ids.hpp"

namespace entrain::trace {

/// The call of one member of a collective. A member that takes waits until all that give have
/// begun: in an allreduce each does both, in a broadcast the root gives and the others take.
struct CollectiveCall {
  std::uint64_t begin = 0, end = 0;  ///< stamps of its location
  LocationIndex location = k_none;
  bool gives = false, takes = false;
};

/// A collective: an operation of a group, or one direction of it between two groups.
struct CollectiveOperation {
  std::uint64_t first = 0;      ///< position of its first call in Collectives::calls
  std::uint32_t members = 0;    ///< number of its calls
  std::uint32_t expected = 0;   ///< number of members of the group; more than `members`: some lack
  std::uint32_t operation = 0;  ///< position in Collectives::operations
  std::uint32_t group = 0;      ///< position in Collectives::groups
  std::optional<std::uint64_t> step{};  ///< step of the training loop; empty: not known
};

/// The collectives of a trace in which somebody waits for all that give. Scans, in which each
/// member waits for others, are left out.
struct Collectives {
  std::vector<std::string> operations, groups;  ///< names
  BigVector<CollectiveOperation> all;
  BigVector<CollectiveCall> calls;
  Counters left_out;  ///< numbers of collectives, by reason; no zeros
};

}  // namespace entrain::trace
