// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/definitions.hpp"
#include "trace/partition.hpp"
#include "trace/trace.hpp"

namespace entrain::trace {

/// Messages between two processes, in both directions.
struct Traffic {
  std::uint32_t a = 0, b = 0;  ///< a < b
  std::uint64_t messages = 0;

  friend bool operator==(const Traffic&, const Traffic&) = default;
};

/// The messages that these locations send to other processes, by pair of processes, in rising
/// order. O(events).
std::vector<Traffic> traffic_of(const Trace& trace, std::span<const LocationIndex> locations);

/// Adds up what several members have counted; in rising order.
std::vector<Traffic> sum_of(std::vector<Traffic> traffic);

/// Messages between processes of different members.
std::uint64_t crossing(const Definitions& definitions, const Partition& partition,
                       std::span<const Traffic> traffic);

/// Input of place().
struct PlacementInput {
  const Definitions& definitions;
  std::span<const std::uint64_t> weight;  ///< see divide()
  unsigned members = 1;
  std::span<const std::uint32_t> together = {};  ///< see divide()
  std::span<const Traffic> traffic = {};         ///< traffic of all processes, each pair once
};

/// A partition in which few messages cross members. No member has more than with divide(), or a
/// twentieth more than its share. Deterministic; O((processes + pairs) log).
///
/// divide() is good where neighbours have neighbouring numbers. Two partitions are made: that of
/// divide(), and one in which each member begins with a process and takes, one by one, the process
/// that exchanges most with those it has. In both, processes then move, or change places with one
/// of another member, as long as fewer messages cross. The better one is the result.
///
/// Example: eight processes in a ring that is numbered 0, 4, 1, 5, 2, 6, 3, 7, among two members.
/// divide() gives 0 to 3 to the first: every message crosses. place() gives it 0, 4, 1, 5, and the
/// messages of two of the eight neighbourhoods cross.
Partition place(const PlacementInput& input);

}  // namespace entrain::trace
