// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/possible_times.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "bounds/clock_facts.hpp"

namespace entrain::bounds {

Interval PossibleTimes::errors(LocationIndex l, std::uint64_t first, std::uint64_t last) const {
  if (l == proven_.reference) return {0, 0};
  const std::uint32_t clock = proven_.clock_of[l];
  const constraints::BaseLine& line = proven_.lines[clock];
  Interval interval = proven_.errors[clock].over(line(first), line(last));
  if (!interval.bounded()) return interval;
  // A tick by which the line may round.
  const std::int64_t reach = proven_.quantum[clock] + 1;
  return {interval.lower - reach, interval.upper + reach};
}

TickRange PossibleTimes::at(LocationIndex l, std::uint64_t local, const Interval& errors) const {
  const std::int64_t shown = proven_.lines[proven_.clock_of[l]](local);
  // Times by the map of the reference when its line shows `time`. line_ finds stamps to within 2.
  const auto reference_time = [&](std::int64_t time) {
    const std::uint64_t stamp = line_.local_at(time);
    TickRange range;
    range.take(reference_(stamp < 3 ? 0 : stamp - 3));
    range.take(reference_(stamp + 3));
    return range;
  };
  return {reference_time(shown - errors.upper).least, reference_time(shown - errors.lower).most};
}

std::uint64_t PossibleTimes::middle(LocationIndex l, std::uint32_t window, std::uint64_t first,
                                    std::uint64_t last) const {
  const std::int64_t begin = proven_.begin + static_cast<std::int64_t>(window) * proven_.width;
  return std::clamp(proven_.lines[proven_.clock_of[l]].local_at(begin + proven_.width / 2), first,
                    last);
}

ClockMap shared_map(const trace::Share& share, LocationIndex reference,
                    std::span<const ClockMap> maps) {
  std::vector<ClockKnot> knots;
  if (share.owns(reference)) {
    knots.assign(maps[reference].knots().begin(), maps[reference].knots().end());
  }
  auto map = ClockMap::from_knots(gather_everywhere(share.team, knots));
  return map ? std::move(*map) : ClockMap();
}

}  // namespace entrain::bounds
