// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "verify/alignment.hpp"

namespace entrain::verify {

/// The calls of a process on a communicator, beside its messages with one other process.
struct CallRow {
  std::vector<Trait> traits;            ///< their positions count those messages
  std::vector<std::uint32_t> unlisted;  ///< positions of calls without a record, in order
  std::vector<Stop> stops;              ///< as Ordinals::stops
  std::uint32_t messages = 0;           ///< all of them
  std::uint32_t kinds = 0, trust = 0;   ///< as in Ordinals
  std::uint32_t ahead_of_gaps = 0;
  bool ends_in_gap = false;

  /// `whole`: leading calls among which none is missing.
  [[nodiscard]] Row row(std::uint32_t whole) const {
    return {.traits = traits,
            .position = traits.empty() ? 0 : traits.back().position,
            .ends_in_gap = ends_in_gap,
            .whole = whole};
  }
};

/// Couples calls of two processes where some may be missing (docs/method.md, section 2.1): those
/// with equally many messages between both processes ahead of them, if that does not contradict
/// itself, or else as align_rows() does. Of several calls between the same messages all couple or
/// none. Where both processes have firm habits, but exchange no messages, and all calls are alike,
/// nothing couples.
///
/// Example: with 0, 40 and 80 messages ahead of the calls of one process and 40 and 80 ahead of
/// those of the other, the couples are (1, 0) and (2, 1).
Alignment couple_calls(const CallRow& a, const CallRow& b);

}  // namespace entrain::verify
