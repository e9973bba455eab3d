// SPDX-License-Identifier: BSD-3-Clause
#include "match/round_trip.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "base/exact.hpp"
#include "base/flat_map.hpp"
#include "match/halo.hpp"

namespace entrain::match {

namespace {

/// The two locations without regard to the direction.
auto unordered_pair(const OneWayDelay& delay) {
  return std::tuple(delay.latency_class, std::min(delay.from, delay.to),
                    std::max(delay.from, delay.to));
}

/// Smallest delay there plus smallest delay back; empty when one direction has no message.
std::optional<std::int64_t> round_trip(std::span<const OneWayDelay> between) {
  std::optional<std::int64_t> up, down;
  for (const OneWayDelay& delay : between) {
    auto& smallest = delay.from < delay.to ? up : down;
    smallest = std::min(smallest.value_or(delay.delay_ticks), delay.delay_ticks);
  }
  if (!up || !down) return std::nullopt;
  return clamped_sum(*up, *down);
}

/// The times of all nodes. Collective.
std::vector<std::int64_t> times_of(Team& team, const Graph& graph, std::span<const ClockMap> maps) {
  std::vector<std::int64_t> times(graph.node_count());
  for (LocationIndex l = 0; l < graph.location_count(); ++l) {
    for (NodeIndex n = graph.first_node[l]; n < graph.first_node[l + 1]; ++n) {
      times[n] = maps[l](graph.stamp[n]);
    }
  }
  HaloExchange(team, graph).publish(times);
  return times;
}

/// The smallest delay of each direction between two locations.
std::vector<OneWayDelay> smallest_delays(const Graph& graph, std::span<const std::int64_t> times) {
  FlatMap<std::uint64_t, std::int64_t, IntegerHash> smallest;
  std::vector<OneWayDelay> delays;
  const auto key = [](LocationIndex from, LocationIndex to) {
    return std::uint64_t{from} << 32 | to;
  };
  for (const Edge& edge : graph.edges) {
    if (edge.kind != EdgeKind::p2p) continue;
    const LocationIndex from = graph.location_of(edge.send), to = graph.location_of(edge.receive);
    const std::int64_t ticks = margin(times[edge.receive], times[edge.send]);
    const auto [found, is_new] = smallest.insert(key(from, to), ticks);
    *found = std::min(*found, ticks);
    if (is_new) delays.push_back({from, to, edge.latency_class, 0});
  }
  for (OneWayDelay& delay : delays) delay.delay_ticks = *smallest.find(key(delay.from, delay.to));
  return delays;
}

/// Per latency class: the smallest round trip, ticks.
using RoundTrips = std::array<std::int64_t, k_latency_classes>;
constexpr std::int64_t k_unknown_trip = std::numeric_limits<std::int64_t>::max();

RoundTrips smallest_round_trips(std::vector<OneWayDelay> delays) {
  std::erase_if(delays, [](const OneWayDelay& delay) { return delay.from == delay.to; });
  std::ranges::sort(delays, {}, unordered_pair);
  RoundTrips smallest;
  smallest.fill(k_unknown_trip);
  for (auto first = delays.begin(), last = first; first != delays.end(); first = last) {
    last = std::find_if(first, delays.end(), [&](const OneWayDelay& delay) {
      return unordered_pair(delay) != unordered_pair(*first);
    });
    std::int64_t& of_class = smallest[static_cast<std::size_t>(first->latency_class)];
    of_class = std::min(of_class, round_trip({first, last}).value_or(k_unknown_trip));
  }
  return smallest;
}

MuTicks quarters(const RoundTrips& smallest) {
  MuTicks mu{};
  for (std::size_t i = 0; i < mu.size(); ++i) {
    if (smallest[i] != k_unknown_trip) mu[i] = std::max<std::int64_t>(smallest[i], 0) / 4;
  }
  return mu;
}

}  // namespace

MuTicks estimate_round_trip_mu(std::vector<OneWayDelay> delays) {
  return quarters(smallest_round_trips(std::move(delays)));
}

MuTicks round_trip_mu(Team& team, const trace::Partition& partition, const Graph& graph,
                      std::span<const ClockMap> maps) {
  // Both directions between two locations meet at the member that works on the lower one.
  std::vector<std::vector<OneWayDelay>> by_member(team.size());
  for (const OneWayDelay& delay : smallest_delays(graph, times_of(team, graph, maps))) {
    by_member[partition.owner[std::min(delay.from, delay.to)]].push_back(delay);
  }
  std::vector<OneWayDelay> met;
  for (const auto& part : exchange(team, std::move(by_member))) {
    met.insert(met.end(), part.begin(), part.end());
  }
  RoundTrips smallest = smallest_round_trips(std::move(met));
  team.reduce(Team::Reduction::min, smallest);
  return quarters(smallest);
}

void set_pair_mu(Graph& graph, const trace::PairMu& pairs, const MuTicks& mu) {
  std::map<trace::PairMu::Key, std::uint16_t> number;
  graph.extra_mu.assign(1, 0);
  for (const auto& [machines, ticks] : pairs.all()) {
    const auto of_class = static_cast<std::size_t>(
        machines.first == machines.second ? LatencyClass::same_node : LatencyClass::other);
    if (ticks <= mu[of_class]) continue;
    number.emplace(machines, static_cast<std::uint16_t>(graph.extra_mu.size()));
    graph.extra_mu.push_back(ticks - mu[of_class]);
  }
  if (number.empty()) return;
  for (Edge& edge : graph.edges) {
    if (edge.kind != EdgeKind::p2p || edge.latency_class == LatencyClass::same_process) continue;
    const auto found =
        number.find(trace::PairMu::key(graph.node_of[graph.location_of(edge.send)],
                                       graph.node_of[graph.location_of(edge.receive)]));
    if (found != number.end()) edge.pair = found->second;
  }
}

}  // namespace entrain::match
