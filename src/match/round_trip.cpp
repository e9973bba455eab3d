// SPDX-License-Identifier: BSD-3-Clause
#include "match/round_trip.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/exact.hpp"
#include "base/flat_map.hpp"
#include "match/halo.hpp"

namespace entrain::match {

namespace {

/// Smallest delays of the messages between two locations, ticks: to the higher location, and back.
/// Empty: no message.
struct DelaysBetween {
  LocationIndex low = k_none, high = k_none;
  LatencyClass latency_class = LatencyClass::other;
  std::array<std::optional<std::int64_t>, 2> smallest;
};

/// The delays between all locations.
class DelayTable {
 public:
  void add(const DelaysBetween& delays) {
    const std::uint64_t key = std::uint64_t{delays.low} << 32 | delays.high;
    const auto [place, is_new] = places_.insert(key, all_.size());
    if (is_new) all_.push_back(delays);
    for (const std::size_t way : {0, 1}) {
      std::optional<std::int64_t>& known = all_[*place].smallest[way];
      const std::optional<std::int64_t>& other = delays.smallest[way];
      if (other) known = std::min(known.value_or(*other), *other);
    }
  }
  [[nodiscard]] const std::vector<DelaysBetween>& all() const { return all_; }

 private:
  FlatMap<std::uint64_t, std::size_t, IntegerHash> places_;
  std::vector<DelaysBetween> all_;
};

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

DelayTable delays_of(const Graph& graph, std::span<const std::int64_t> times) {
  DelayTable table;
  for (const Edge& edge : graph.edges) {
    if (edge.kind != EdgeKind::p2p) continue;
    const LocationIndex from = graph.location_of(edge.send), to = graph.location_of(edge.receive);
    DelaysBetween one{std::min(from, to), std::max(from, to), edge.latency_class, {}};
    one.smallest[from < to ? 0 : 1] = margin(times[edge.receive], times[edge.send]);
    table.add(one);
  }
  return table;
}

}  // namespace

MuTicks round_trip_mu(Team& team, const trace::Partition& partition, const Graph& graph,
                      std::span<const ClockMap> maps) {
  // Both directions between two locations meet at the member that works on the lower one.
  std::vector<std::vector<DelaysBetween>> by_member(team.size());
  const DelayTable here = delays_of(graph, times_of(team, graph, maps));
  for (const DelaysBetween& one : here.all()) {
    by_member[partition.owner[one.low]].push_back(one);
  }
  DelayTable met;
  for (const auto& part : exchange(team, std::move(by_member))) {
    for (const DelaysBetween& one : part) met.add(one);
  }
  constexpr std::int64_t k_no_trip = std::numeric_limits<std::int64_t>::max();
  std::array<std::int64_t, k_latency_classes> trips{};
  trips.fill(k_no_trip);
  for (const auto& [low, high, latency_class, smallest] : met.all()) {
    if (!smallest[0] || !smallest[1]) continue;
    std::int64_t& of_class = trips[static_cast<std::size_t>(latency_class)];
    of_class = std::min(of_class, clamped_sum(*smallest[0], *smallest[1]));
  }
  team.reduce(Team::Reduction::min, trips);
  MuTicks mu{};
  for (std::size_t i = 0; i < mu.size(); ++i) {
    if (trips[i] != k_no_trip) mu[i] = std::max<std::int64_t>(trips[i], 0) / 4;
  }
  return mu;
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
