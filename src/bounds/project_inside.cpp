// SPDX-License-Identifier: BSD-3-Clause
#include "bounds/prove.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "base/try.hpp"
#include "bounds/possible_times.hpp"

namespace entrain::bounds {

namespace {

/// Rounding of knots and of times between them, ticks.
constexpr std::int64_t k_map_rounding = 2;

/// Times at which bounds bend, as stamps. Between these, bounds are wider than straight lines.
std::vector<std::uint64_t> stamps_of(const ProvenIntervals& proven, std::uint32_t clock) {
  std::vector<std::uint64_t> stamps;
  for (const ClockBound::Point& point : proven.errors[clock].points()) {
    stamps.push_back(proven.lines[clock].local_at(point.time));
  }
  return stamps;
}

}  // namespace

Result<causal::Projection> project_inside(const constraints::Context& context,
                                          const trace::ClockDomains& domains,
                                          const ProvenIntervals& proven, std::span<ClockMap> maps) {
  if (!proven.about.reason.empty()) return causal::Projection();
  const ClockMap reference = shared_map(context.share, proven.reference, maps);
  const PossibleTimes possible(proven, reference);
  causal::KnownTimes known{.reference = domains.of[proven.reference], .stamps = {}, .at = {}};
  for (const auto& members : domains.members) {
    known.stamps.push_back(stamps_of(proven, proven.clock_of[members.front()]));
  }
  known.at = [&](std::uint32_t domain,
                 std::uint64_t stamp) -> std::optional<causal::KnownTimes::Offsets> {
    const LocationIndex l = domains.members[domain].front();
    const Interval errors = possible.errors(l, stamp, stamp);
    if (!errors.bounded()) return std::nullopt;
    TickRange times = possible.at(l, stamp, errors);
    if (times.most - times.least > 4 * k_map_rounding) {
      times.least += k_map_rounding;
      times.most -= k_map_rounding;
    }
    const auto shown = static_cast<std::int64_t>(stamp);
    return causal::KnownTimes::Offsets{times.least - shown,
                                       std::max(times.least, times.most) - shown};
  };
  const std::vector<ClockMap> before(maps.begin(), maps.end());
  TRY_ASSIGN(const causal::Projection held,
             causal::project_into_intervals(context, domains, known, maps));
  if (held.moved == 0) return held;
  const std::vector<std::uint32_t>& process_of = context.trace().definitions.process_of;
  std::map<std::uint32_t, LocationIndex> first_moved;  // location of a process
  for (std::uint32_t d = 0; d < domains.count(); ++d) {
    const LocationIndex l = domains.members[d].front();
    if (maps[l] != before[l]) first_moved.try_emplace(process_of[l], l);
  }
  for (std::uint32_t d = 0; d < domains.count(); ++d) {
    const LocationIndex front = domains.members[d].front();
    const auto moved = first_moved.find(process_of[front]);
    if (!context.share.owns(front) || moved == first_moved.end()) continue;
    // Threads of which nothing is known keep the map of their process.
    const bool follows = known.stamps[d].empty() && before[front] == before[moved->second];
    const ClockMap& wanted = maps[follows ? moved->second : front];
    const trace::LocationSkeleton extent = trace::extent_of(context.trace(), domains.members[d]);
    if (wanted == before[front] || extent.event_count == 0) continue;
    TRY_ASSIGN(const ClockMap map, clocks::straight_in_flushes(wanted, extent));
    for (const LocationIndex l : domains.members[d]) maps[l] = map;
  }
  clocks::avoid_negative_times(context.share, maps);
  return held;
}

}  // namespace entrain::bounds
