// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "base/flat_map.hpp"
#include "trace/trace.hpp"
#include "verify/outline.hpp"
#include "verify/places.hpp"

namespace entrain::verify {

/// Orders the calls of each column of a process by begin; of calls begun at one stamp, requests
/// come first, then the call that ended first. Calls of one thread keep the stream order of their
/// begins. Sets Outline::Call::order, Outline::Column::disordered and Outline::Column::operations.
/// O(n log n) in the calls of disordered columns.
///
/// Example: thread 0 makes a barrier over [10, 20], thread 1 one over [15, 30] and one over [5, 8]
/// before it: the process made them in the order [5, 8], [10, 20], [15, 30].
void order_calls(const trace::Trace& trace, const Places& places, Outline& outline);

/// Sets Outline::Post::order of the posts of disordered channels to their positions in order of
/// posting, and Outline::Channel::symbols of these channels. O(n log n) in these posts.
void order_posts(const trace::Trace& trace, const Places& places, Outline& outline);

/// Code of a message with this symbol at this position of a channel: codes may be added in any
/// order.
inline std::uint64_t symbol_code(std::uint32_t position, std::uint32_t symbol) {
  return mix(std::uint64_t{position} << 32 | symbol);
}

/// Calls `use(call, ordinal, end)` for each call of an outline after order_calls(): `ordinal` is
/// its position in its column, `end` its last event. The calls of a column come in any order.
template <class Use>
void for_ordered_calls(const trace::Trace& trace, const Places& places, const Outline& outline,
                       Use use) {
  std::vector<std::uint32_t> next(outline.columns.size(), 0);
  for (const Outline::Call& call : outline.calls) {
    const std::uint32_t ordinal =
        outline.columns[call.column].disordered ? call.order : next[call.column]++;
    const EventRef at = places.event(outline.process, call.event);
    use(call, ordinal, trace.locations[at.location].events[at.event]);
  }
}

}  // namespace entrain::verify
