// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <entrain/align.hpp>

namespace entrain::explain {

/// A clock that was set back and shows times twice. In the order of its stamps this is no step.
struct BackwardStep {
  std::uint32_t clock = 0;
  std::uint64_t from = 0, to = 0;  ///< last stamp before it was set back first, least one after it
  std::size_t times = 0;           ///< number of times that it was set back
  std::uint64_t all = 0;           ///< number of its edges
  std::vector<std::uint32_t> edges;  ///< set aside: without them stamps are in order; increasing
  /// Neighbouring stamps that stay, between which it was set; increasing.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> cuts;
};

/// Finds clocks that were set back by more than the time of some edges. In the order of the stamps
/// of another clock, the differences of both have levels: one for each time that a clock was set.
/// Where the level rises and stamps repeat, the clock was set back. Most other clocks must show it
/// as many times. Of the stamps of the clock a longest sequence in order stays.
///
/// Example: clock 1 counts from 0 to 900 and, set back, from 500 to 2000. At some stamp from 500 to
/// 900 the sequence changes over: stamps of the first part above it, and of the second part below
/// it, are set aside.
///
/// Edges between single events only. O(n log n) for n edges, and as much for the edges of the
/// neighbours of each clock that was set back.
std::vector<BackwardStep> find_backward_steps(std::size_t clocks, const Edges& edges);

}  // namespace entrain::explain
