// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "base/flat_map.hpp"
#include "base/try.hpp"
#include "verify/check.hpp"
#include "verify/latency.hpp"
#include "verify/relation.hpp"
#include "verify/tally.hpp"

namespace entrain::verify {

namespace {

/// The smallest delay of each direction between two locations.
std::vector<OneWayDelay> smallest_delays(const Relation& relation) {
  FlatMap<std::uint64_t, std::int64_t, IntegerHash> smallest;
  std::vector<OneWayDelay> delays;
  const auto key = [](LocationIndex from, LocationIndex to) {
    return std::uint64_t{from} << 32 | to;
  };
  relation.for_each_pair([&](const Pair& pair) {
    const LocationIndex from = pair.send.location, to = pair.receive.location;
    const std::int64_t ticks = margin(pair.receive_time, pair.send_time);
    const auto [found, is_new] = smallest.insert(key(from, to), ticks);
    *found = std::min(*found, ticks);
    if (is_new) delays.push_back({from, to, relation.places().latency_class(from, to), 0});
  });
  for (OneWayDelay& delay : delays) delay.delay_ticks = *smallest.find(key(delay.from, delay.to));
  return delays;
}

/// Of the delays between pairs of locations, those of the smallest round trip of each class.
std::vector<OneWayDelay> smallest_round_trips(std::vector<OneWayDelay> delays) {
  const auto between = [](const OneWayDelay& d) {
    return std::tuple(d.latency_class, std::min(d.from, d.to), std::max(d.from, d.to));
  };
  std::sort(delays.begin(), delays.end(),
            [&](const OneWayDelay& a, const OneWayDelay& b) { return between(a) < between(b); });
  struct Best {
    std::int64_t there_and_back = std::numeric_limits<std::int64_t>::max();
    std::size_t at = 0;
    bool found = false;
  };
  std::array<Best, k_latency_classes> best;
  for (std::size_t i = 1; i < delays.size(); ++i) {  // each direction is there at most once
    if (between(delays[i]) != between(delays[i - 1])) continue;
    Best& of_class = best[static_cast<std::size_t>(delays[i].latency_class)];
    const std::int64_t back = delays[i].delay_ticks;
    std::int64_t sum = 0;
    if (__builtin_add_overflow(delays[i - 1].delay_ticks, back, &sum)) {
      sum = back < 0 ? std::numeric_limits<std::int64_t>::min()
                     : std::numeric_limits<std::int64_t>::max();
    }
    if (!of_class.found || sum < of_class.there_and_back) of_class = {sum, i, true};
  }
  std::vector<OneWayDelay> chosen;
  for (const Best& of_class : best) {
    if (!of_class.found) continue;
    chosen.push_back(delays[of_class.at - 1]);
    chosen.push_back(delays[of_class.at]);
  }
  return chosen;
}

}  // namespace

Result<MuTicks> round_trip_mu(Team& team, const trace::Partition& partition,
                              const trace::Trace& trace, std::span<const ClockMap> maps,
                              const Progress* progress) {
  TRY_ASSIGN(const Relation relation,
             Relation::build(team, partition, trace, maps, AlltoallvRule::ignore, Scope::messages,
                             progress));
  // Both directions between two locations meet at the member that works on the lower one.
  std::vector<std::vector<OneWayDelay>> by_member(team.size());
  for (const OneWayDelay& delay : smallest_delays(relation)) {
    by_member[partition.owner[std::min(delay.from, delay.to)]].push_back(delay);
  }
  std::vector<OneWayDelay> met;
  for (const auto& part : exchange(team, std::move(by_member))) {
    met.insert(met.end(), part.begin(), part.end());
  }
  return estimate_round_trip_mu(gather_everywhere(team, smallest_round_trips(std::move(met))));
}

MuTicks round_trip_mu(const trace::Trace& trace, std::span<const ClockMap> maps) {
  Solo solo;
  const auto mu = round_trip_mu(solo, trace::undivided(trace.definitions), trace, maps);
  return mu ? *mu : MuTicks{};
}

}  // namespace entrain::verify
