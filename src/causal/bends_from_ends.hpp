// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <entrain/error.hpp>

#include "causal/simultaneous_ends.hpp"

namespace entrain::causal {

/// How clocks wander about lines.
struct BendsFromEnds {
  std::vector<std::vector<SimultaneousEnds::Bend>> of_clock;
  std::int64_t spread = 0;  ///< as SimultaneousEnds, with these bends, ticks
};

/// How clocks wander about their lines, as far as ends of calls that coincide show it: per clock of
/// `lines` points between which it wanders evenly. Each point is the median of some
/// ends. There are as many points as predict best when every other call is left out. Empty
/// unless they predict at least a tenth better than lines do. Points lie so far apart that the
/// noise of ends looks like a rate of 20 ppm at most.
///
/// Linear in the number of ends, some hundred passes where
/// clocks wander, one where they do not. Deterministic.
///
/// Example: two clocks end calls together each second; the second one ends them 0, 10, 20, 10, 0 us
/// late beside its line. Its points are (0 s, 0), (2 s, -20 us), (4 s, 0) or close to it, or those
/// of the first one are the opposite.
Result<std::optional<BendsFromEnds>> find_bends(const CallEnds& calls,
                                                std::span<const SimultaneousEnds::Line> lines,
                                                const FitControl& control);

/// What is to be added at a stamp: straight between points, as at the nearest one beyond them.
double bend_at(std::span<const SimultaneousEnds::Bend> bends, std::uint64_t stamp);

}  // namespace entrain::causal
