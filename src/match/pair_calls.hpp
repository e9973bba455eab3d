// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "match/align_records.hpp"
#include "match/numbered_alignment.hpp"

namespace entrain::match {

/// The calls of one process on one communicator, to be compared with those of another process.
struct CallSide {
  /// Record per call, in order. Position: number of messages that the two processes exchanged
  /// before it, missing ones included.
  std::vector<EndRecord> records;
  std::vector<std::uint32_t> missing;     ///< sorted positions of calls without a record
  std::vector<Pause> pauses;              ///< see NumberedSide
  std::uint32_t messages = 0;             ///< number exchanged by the two processes
  std::uint32_t kinds = 0, evidence = 0;  ///< see NumberedSide; 0: no routine
  std::uint32_t before_gaps = 0;          ///< leading calls that lie before all gaps of the process
  bool ends_in_gap = false;

  [[nodiscard]] Side side() const {
    return {records, records.empty() ? 0 : records.back().position, ends_in_gap};
  }
};

/// Pairs the calls of two processes where some are missing. If both have a routine and exchange
/// messages, calls after equally many messages are pairs; else align_records() decides. No pairs if
/// both have a routine, exchange no messages, and all calls are alike.
///
/// Example: one process calls after 0, 40, 80 and 120 messages, the other after 0, 80 and 120: the
/// second call of the first has no partner. Where a process must have called twice after 80
/// messages and one record is missing, the other call has no partner either: it could be either of
/// the two.
Alignment pair_calls(const CallSide& a, const CallSide& b);

}  // namespace entrain::match
