// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <entrain/clock_map.hpp>

#include "base/exact.hpp"

namespace entrain::explain {

/// An event of a clock that was set, with what the other ends of its edges say about its common
/// time.
struct BoundedEvent {
  enum class Role : std::uint8_t {
    cause,   ///< not later than `limit`
    effect,  ///< not earlier than `limit`
    fixed    ///< it stays on its side of the step
  };

  std::uint64_t stamp = 0;
  Int128 limit = 0;  ///< common time, ticks; the minimum latency is taken into account
  Role role = Role::fixed;
};

/// Returns the number of events before a step: of all that can be reached from `known` (0 < known <
/// events) without violating an edge or the order of times, the one that leaves the least sum of
/// slacks; `known` itself if none leaves less. Messages that would travel longer by the size of the
/// step are less likely than others: with exponentially distributed delays, this is the place of
/// maximum likelihood. `events` increase by stamp; no step lies between equal stamps. `before`,
/// `after`: maps of the clock on both sides of the step. O(events that can be reached).
///
/// Example: a clock is set ahead by 100 ticks between the stamps 500 and 610; it sends at 500, 610
/// and 720, and the messages arrive 5 ticks later. Nothing contradicts that it was set before 500:
/// that message would have travelled 105 ticks. After 610 it cannot have been set, or that message
/// would have arrived before it was sent.
std::size_t place_step(std::span<const BoundedEvent> events, std::size_t known,
                       const ClockMap& before, const ClockMap& after);

}  // namespace entrain::explain
