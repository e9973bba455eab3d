// SPDX-License-Identifier: BSD-3-Clause
#include "engine/stored_times.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <utility>

#include <fmt/ranges.h>

#include "explain/explained.hpp"
#include "trace/definitions.hpp"

namespace entrain::engine {

namespace {

/// Position of the second knot of the segment of a map over a gap in the stamps in which its offset
/// changes most; 0 if none does.
std::size_t step_over(std::span<const ClockKnot> knots, std::uint64_t from, std::uint64_t to) {
  std::size_t second = 0;
  std::int64_t most = 0;
  for (std::size_t k = 1; k < knots.size(); ++k) {
    const std::int64_t change = std::abs(knots[k].offset - knots[k - 1].offset);
    if (knots[k - 1].local > to || knots[k].local < from || change <= most) continue;
    most = change;
    second = k;
  }
  return second;
}

/// Tells the step of a clock in [from, to] by the times as stored: `back` ticks more, and a stamp
/// that counts on by `ahead`.
void tell(const std::string& clock, std::uint64_t from, std::uint64_t to, std::int64_t back,
          std::int64_t ahead, std::uint64_t resolution_hz, explain::Told& told) {
  for (ClockExplanation& one : told.all) {
    const bool is_of_it = one.kind == ExplanationKind::step && one.size_ticks &&
                          !one.clocks.empty() && one.clocks.front() == clock;
    if (!is_of_it || *one.time_ticks < from || *one.time_ticks > to) continue;
    one.size_ticks = *one.size_ticks + back;
    one.time_ticks = *one.time_ticks - static_cast<std::uint64_t>(ahead);
    one.text = explain::told_step(fmt::format("{}", fmt::join(one.clocks, ", ")), *one.time_ticks,
                                  one.size_ticks, resolution_hz)
                   .text;
  }
}

}  // namespace

std::vector<ClockMap> tell_as_stored(Timeline& timeline) {
  std::vector<ClockMap> stored = timeline.stored;
  const trace::Definitions& definitions = timeline.loaded.trace.definitions;
  const std::vector<std::string> names = trace::clock_names(definitions);
  for (std::size_t c = 0; c < stored.size(); ++c) {
    std::vector<ClockKnot> falls(stored[c].knots().begin(), stored[c].knots().end());
    if (falls.size() < 2) continue;
    const std::span<const ClockKnot> knots = timeline.presync.maps[c].knots();
    for (std::size_t f = 1; f < falls.size(); ++f) {
      ClockKnot &before = falls[f - 1], &after = falls[f];
      if (after.offset == before.offset) continue;
      const std::size_t second = step_over(knots, before.local, after.local);
      if (second == 0) continue;
      const ClockKnot &first = knots[second - 1], &last = knots[second];
      // A part reaches into the gap of its step by a half of what is left at most.
      const std::uint64_t latest =
          std::max(after.local, last.local + (last.local - first.local) / 2 + 1);
      tell(names[c], before.local, latest, after.offset - before.offset, -after.offset,
           definitions.clock.resolution_hz, timeline.told);
      before.local = first.local;
      after.local = last.local;
    }
    falls.front().local = std::min(falls.front().local, falls[1].local - 1);
    falls.back().local = std::max(falls.back().local, falls[falls.size() - 2].local + 1);
    if (auto moved = ClockMap::from_knots(std::move(falls))) stored[c] = *std::move(moved);
  }
  return stored;
}

}  // namespace entrain::engine
