// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <entrain/align.hpp>
#include <entrain/clock_map.hpp>
#include <entrain/error.hpp>
#include <entrain/progress.hpp>

#include "constraints/constraint.hpp"
#include "lines/clock_lines.hpp"
#include "lines/end_lines.hpp"

namespace entrain::lines {

/// Finds the lines under which the ends of each instance marked `ends_coincide` are closest
/// together: offsets by medians, rates only if they exceed the noise and at least 4 ends show them.
/// Then finds bends (find_bends()). A clock without such ends keeps its time. Empty if fewer than 2
/// clocks have 3 such ends, or if chains of instances connect clocks too loosely. Linear in the
/// number of ends; the same for any number of `threads` (0: all cores). Errors:
/// ErrorKind::interrupted when `progress` (may be null) is cancelled.
Result<std::optional<SimultaneousEnds>> find_simultaneous_ends(const Clocks& clocks,
                                                               const Edges& edges, unsigned threads,
                                                               const Progress* progress);

/// Finds lines, without bends, from calls of `clocks` clocks.
Result<std::optional<SimultaneousEnds>> find_simultaneous_ends(std::size_t clocks,
                                                               const constraints::CallEnds& calls,
                                                               const FitControl& control);

/// Median distance of an end from the middle of its call, ticks; 0 without ends.
std::int64_t spread_of(const constraints::CallEnds& calls);

/// Lines by which the clocks of a component show the time of its first one.
std::vector<ClockLine> lines_of(const SimultaneousEnds& ends);

/// Returns the maps by which all clocks show the time of `reference`; without one, that of the
/// clock near the median offset by which most clocks stay, of those that vote (`votes`: by clock;
/// empty: all have 1; where as many stay, the clock with more). A clock that differs from it by no
/// more than the noise stays as it is, and so does one without ends. Empty if some rate differs
/// from the reference's by more than `most_rate` (below 1), if calls do not connect all clocks that
/// have ends, if the reference has none, or if an offset is too large for a map (2^61 ticks).
std::optional<std::vector<ClockMap>> maps_of(const SimultaneousEnds& ends,
                                             std::optional<std::uint32_t> reference,
                                             double most_rate, std::span<const char> votes = {});

}  // namespace entrain::lines
