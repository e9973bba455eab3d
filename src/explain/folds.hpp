// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <entrain/align.hpp>

namespace entrain::explain {

/// A clock was set back and shows times twice. In the order of its stamps this is no step.
struct Fold {
  std::uint32_t clock = 0;
  std::uint64_t from = 0, to = 0;  ///< last stamp before it was set back first, least one after it
  std::uint32_t times = 0;         ///< number of times that it was set back
  std::uint64_t dropped = 0;       ///< edges of the clock that are set aside
  std::uint64_t all = 0;           ///< its edges
};

/// Clocks that were set back, and the edges at times that these show twice.
struct Folds {
  std::vector<Fold> clocks;          ///< from the largest fall on
  std::vector<std::uint32_t> edges;  ///< set aside: without them stamps are in order; increasing
};

/// Finds clocks that were set back by more than the time of some edges. In the order of the stamps
/// of another clock, the differences of both have levels: one for each time that a clock was set.
/// Where the level rises and stamps repeat, the clock was set back. Most other clocks must show as
/// many such falls. Of the stamps of the clock a longest sequence in order stays.
///
/// Example: clock 1 counts from 0 to 900 and, set back, from 500 to 2000. Of the stamps from 500 to
/// 900 those before or those after the fall are set aside, whichever are fewer.
///
/// Edges between single events only. O(n log n) for n edges and each clock that was set back.
Folds find_folds(std::size_t clocks, const Edges& edges);

}  // namespace entrain::explain
