// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "match/align.hpp"
#include "match/in_step.hpp"

namespace entrain::match {

/// The calls of one process on one communicator, to be compared with those of another process.
struct CallSide {
  /// Per call, in order. Its position counts the messages that the two processes exchanged before
  /// it, with those that are missing.
  std::vector<Trait> traits;
  std::vector<std::uint32_t> missing;     ///< positions of calls without a record, in order
  std::vector<Pause> pauses;              ///< as in Numbered
  std::uint32_t messages = 0;             ///< that the two processes exchanged altogether
  std::uint32_t kinds = 0, evidence = 0;  ///< as in Numbered; 0: the process has no routine
  std::uint32_t before_gaps = 0;          ///< leading calls that lie before all gaps of the process
  bool ends_in_gap = false;

  [[nodiscard]] Side side() const {
    return {traits, traits.empty() ? 0 : traits.back().position, ends_in_gap};
  }
};

/// Finds out which calls of two processes belong together where some are missing. Where both have
/// a routine and exchange messages, those before which they exchanged equally many; else align().
/// None if both have a routine, exchange none, and all calls are alike.
///
/// Example: one process calls after 0, 40, 80 and 120 messages, the other one after 0, 80 and 120:
/// the second call of the first one has no partner. Where a process surely called twice after 80
/// messages and only one record tells of it, none of them has a partner: it could be either.
Alignment pair_calls(const CallSide& a, const CallSide& b);

}  // namespace entrain::match
