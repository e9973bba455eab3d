// SPDX-License-Identifier: BSD-3-Clause
#include "verify/cycles.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <numeric>
#include <span>

#include "base/big_vector.hpp"
#include "base/free_memory.hpp"
#include "base/try.hpp"
#include "verify/order_graph.hpp"

namespace entrain::verify {

namespace {

/// The number of a component, as this member counts them, and an instant of it.
using ComponentInstant = std::pair<std::uint32_t, EventRef>;

/// Collects the edges inside each cluster for the member that searches it. An instance leads
/// through hubs (OrderGraph), so that it costs as many edges as it has participants.
class Shipper {
 public:
  Shipper(Team& team, const Places& places, const Clusters& clusters)
      : team_(team),
        hub_location_(static_cast<LocationIndex>(places.location_count() + team.rank())),
        clusters_(clusters),
        hubs_(clusters.size(), 0),
        out_(team.size()) {}

  void add(const Relation& relation, bool init_finalize) {
    ClusterFinder find_send(clusters_), find_receive(clusters_);
    relation.for_each_pair([&](const Pair& pair) {
      const std::uint32_t cluster = find_send(pair.send_time);
      if (cluster != k_none && cluster == find_receive(pair.receive_time)) {
        add(cluster, pair.send, pair.receive);
      }
    });
    relation.for_each_instance([&](const Instance& instance) {
      if (instance.kind == EdgeKind::init_finalize && !init_finalize) return;
      add(instance);
    });
  }

  /// Returns all edges for this member. Collective; call it once.
  BigVector<ClusterEdge> exchange() {
    std::vector<BigVector<ClusterEdge>> in = entrain::exchange(team_, std::move(out_));
    BigVector<ClusterEdge> all = std::move(in.front());
    for (std::size_t r = 1; r < in.size(); ++r) {
      all.insert(all.end(), in[r].begin(), in[r].end());
      free_memory(in[r]);
    }
    return all;
  }

 private:
  void add(std::uint32_t cluster, EventRef from, EventRef to) {
    out_[cluster % out_.size()].push_back({cluster, from, to});
  }

  struct Placed {
    std::uint32_t cluster = k_none;
    EventRef event;
    std::uint32_t rank = 0;
  };
  /// The moments inside clusters, sorted by cluster.
  void place(const std::vector<Moment>& side, std::vector<Placed>& placed) {
    placed.clear();
    for (const Moment& moment : side) {
      const std::uint32_t cluster = find_(moment.time);
      if (cluster != k_none) placed.push_back({cluster, moment.event, moment.rank});
    }
    std::ranges::stable_sort(placed, {}, &Placed::cluster);
  }

  void add(const Instance& instance) {
    place(instance.sends, sends_);
    place(instance.receives, receives_);
    std::span<const Placed> sends(sends_), receives(receives_);
    while (!sends.empty() && !receives.empty()) {
      const std::uint32_t cluster = std::min(sends[0].cluster, receives[0].cluster);
      const auto from = take(sends, cluster), to = take(receives, cluster);
      if (from.empty() || to.empty()) continue;
      if (instance.ordered) {
        add_chain(cluster, from, to);
      } else {
        const EventRef hub = new_hub(cluster);
        for (const Placed& send : from) add(cluster, send.event, hub);
        for (const Placed& receive : to) add(cluster, hub, receive.event);
      }
    }
  }
  /// Takes the first moments off, as far as they lie in this cluster.
  static std::span<const Placed> take(std::span<const Placed>& placed, std::uint32_t cluster) {
    std::size_t count = 0;
    while (count < placed.size() && placed[count].cluster == cluster) ++count;
    const auto taken = placed.first(count);
    placed = placed.subspan(count);
    return taken;
  }
  /// The i-th hub stands for "the senders 0 .. i have begun".
  void add_chain(std::uint32_t cluster, std::span<const Placed> sends,
                 std::span<const Placed> receives) {
    EventRef hub;
    auto send = sends.begin();
    for (const Placed& receive : receives) {
      for (; send != sends.end() && send->rank < receive.rank; ++send) {
        const EventRef next = new_hub(cluster);
        add(cluster, send->event, next);
        if (send != sends.begin()) add(cluster, hub, next);
        hub = next;
      }
      if (send != sends.begin()) add(cluster, hub, receive.event);
    }
  }
  EventRef new_hub(std::uint32_t cluster) { return {hub_location_, hubs_[cluster]++}; }

  Team& team_;
  const LocationIndex hub_location_;
  const Clusters& clusters_;
  std::vector<std::uint32_t> hubs_;          ///< number of this member's hubs per cluster
  std::vector<BigVector<ClusterEdge>> out_;  ///< for the member that searches the cluster
  ClusterFinder find_{clusters_};
  std::vector<Placed> sends_, receives_;
};

/// Searches the clusters of this member, one after the other, and appends the instants of
/// components. ErrorKind::input if 32 bits do not suffice for vertices and arcs.
Result<void> search(BigVector<ClusterEdge>& edges, OrderGraph& graph, const Cancel& cancel,
                    std::vector<ComponentInstant>& found) {
  constexpr std::size_t k_most = std::size_t{1} << 30;
  const auto too_large = [] {
    return fail(ErrorKind::input,
                "the clocks are so far apart that cycles could be anywhere, and the trace is too "
                "large to look for them; synchronise it first (--presync)");
  };
  if (edges.size() >= k_most) return too_large();
  // The order inside a cluster does not matter.
  if (!std::ranges::is_sorted(edges, {}, &ClusterEdge::cluster)) {
    std::ranges::sort(edges, {}, &ClusterEdge::cluster);
  }
  std::uint32_t components = 0;
  for (auto first = edges.cbegin(), last = first; first != edges.cend(); first = last) {
    if (cancel.asked()) break;
    last = std::find_if(first, edges.cend(),
                        [&](const ClusterEdge& other) { return other.cluster != first->cluster; });
    if (last - first < 2) continue;  // one edge alone is no cycle
    if (graph.take({first, last}) >= k_most) return too_large();
    graph.for_each_component(components, [&](EventRef instant, std::uint32_t component) {
      found.push_back({component, instant});
    });
  }
  return {};
}

/// True if an event between two instants of a location is more than two timer granules after the
/// first one.
bool is_wide(const trace::LocationSkeleton& location, std::uint32_t first, std::uint32_t last) {
  const std::uint64_t granule = std::max<std::uint64_t>(location.granule, 1);
  const std::uint64_t limit =
      granule > std::numeric_limits<std::uint64_t>::max() / 2 ? granule : 2 * granule;
  const std::uint64_t since = location.events.time(first);
  for (std::uint32_t e = first; e <= last; ++e) {
    const std::uint64_t time = location.events.time(e);
    if (time > since && time - since > limit) return true;
  }
  return false;
}

}  // namespace

std::vector<Cycles::Range> Cycles::ranges_of(std::vector<ComponentInstant>&& instants) {
  std::ranges::sort(instants);
  std::vector<Range> ranges;
  for (const auto& [component, instant] : instants) {
    if (!ranges.empty() && ranges.back().component == component &&
        ranges.back().first.location == instant.location) {
      ranges.back().last = instant.event;
    } else {
      ranges.push_back({instant, instant.event, component});
    }
  }
  return ranges;
}

std::uint32_t Cycles::of(EventRef event) const {
  const auto after = std::ranges::upper_bound(ranges_, event, {}, &Range::first);
  if (after == ranges_.begin()) return k_none;
  const Range& range = *std::prev(after);
  const bool inside = range.first.location == event.location && event.event <= range.last;
  return inside ? range.component : k_none;
}

Result<Cycles> Cycles::find(const trace::Share& share, const Relation& relation,
                            const Clusters& clusters, bool init_finalize, const Cancel& cancel) {
  Cycles cycles;
  if (clusters.empty()) return cycles;
  Team& team = share.team;
  std::vector<Range> own;
  {
    Shipper shipper(team, relation.places(), clusters);
    shipper.add(relation, init_finalize);
    BigVector<ClusterEdge> edges = shipper.exchange();
    OrderGraph graph(relation.places().location_count(), team.size());
    std::vector<ComponentInstant> found;
    TRY(team.agree(search(edges, graph, cancel, found)));
    own = ranges_of(std::move(found));
    TRY(cancel.agree(team));
  }
  // The components of all members get consecutive numbers, in order of ranks.
  const std::uint32_t count = own.empty() ? 0 : own.back().component + 1;
  const std::vector<std::uint32_t> counts = gather_everywhere(team, std::vector{count});
  const auto here = counts.begin() + team.rank();
  for (Range& range : own) range.component += std::accumulate(counts.begin(), here, 0U);
  cycles.ranges_ = gather_everywhere(team, own);
  std::ranges::sort(cycles.ranges_, {}, &Range::first);
  std::vector<std::int64_t> wide(std::accumulate(counts.begin(), counts.end(), 0U), 0);
  for (const Range& range : cycles.ranges_) {
    const LocationIndex l = range.first.location;
    if (share.owns(l) && is_wide(share.trace.locations[l], range.first.event, range.last)) {
      wide[range.component] = 1;
    }
  }
  team.reduce(Team::Reduction::max, wide);
  cycles.dropped_.assign(wide.begin(), wide.end());
  return cycles;
}

}  // namespace entrain::verify
