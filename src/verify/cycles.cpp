// SPDX-License-Identifier: BSD-3-Clause
#include "verify/cycles.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>

#include "base/big_vector.hpp"
#include "base/free_memory.hpp"
#include "base/try.hpp"
#include "verify/exchange_part.hpp"
#include "verify/order_graph.hpp"

namespace entrain::verify {

namespace {

/// Head of the ends of an instance inside one cluster: sends, then receives.
struct PartHead {
  std::uint32_t cluster = k_none;
  bool ordered = false;
  std::uint32_t sends = 0;
  std::uint32_t receives = 0;
};
struct PartEnd {
  EventRef event;
  std::uint32_t rank = 0;
};

/// The edges inside some clusters, for the member that searches these clusters.
struct Shipment {
  BigVector<ClusterEdge> edges;
  std::vector<PartHead> heads;
  BigVector<PartEnd> ends;  ///< ends, head by head
};

/// The number of a component, as this member counts them, and an instant of it.
using ComponentInstant = std::pair<std::uint32_t, EventRef>;

/// Collects the edges inside each cluster for the member that searches it.
class Shipper {
 public:
  Shipper(unsigned members, const Clusters& clusters) : clusters_(clusters), out_(members) {}

  void add(const Relation& relation, bool init_finalize) {
    for (const MatchedChannel& channel : relation.channels()) add(relation, channel);
    Clusters::Finder find_send(clusters_), find_receive(clusters_);
    relation.for_each_single_pair([&](const Pair& pair) {
      const std::uint32_t cluster = find_send(pair.send_time);
      if (cluster != k_none && cluster == find_receive(pair.receive_time)) {
        home(cluster).edges.push_back({cluster, pair.send, pair.receive});
      }
    });
    relation.for_each_instance([&](const Instance& instance) {
      if (instance.kind == EdgeKind::init_finalize && !init_finalize) return;
      add(instance);
    });
  }

  /// Returns all shipments for this member, joined. Collective; call it once.
  Shipment exchange(Team& team) {
    exchange_part(team, out_, &Shipment::edges);
    exchange_part(team, out_, &Shipment::heads);
    exchange_part(team, out_, &Shipment::ends);
    Shipment all = std::move(out_.front());
    for (std::size_t r = 1; r < out_.size(); ++r) {
      append(all.edges, out_[r].edges);
      append(all.heads, out_[r].heads);
      append(all.ends, out_[r].ends);
    }
    return all;
  }

 private:
  template <class List>
  static void append(List& to, List& from) {
    to.insert(to.end(), from.begin(), from.end());
    free_memory(from);
  }

  Shipment& home(std::uint32_t cluster) { return out_[cluster % out_.size()]; }

  void add(const Relation& relation, const MatchedChannel& channel) {
    Clusters::Finder find_send(clusters_), find_receive(clusters_);
    Pair pair;
    for (std::uint32_t k = 0; k < channel.pairs; ++k) {
      const std::uint32_t cluster = find_send(channel.send_time(k));
      if (cluster == k_none || cluster != find_receive(channel.receive_time(k))) continue;
      if (!relation.pair(channel, k, pair)) continue;
      home(cluster).edges.push_back({cluster, pair.send, pair.receive});
    }
  }

  struct Placed {
    std::uint32_t cluster = k_none;
    PartEnd end;
  };
  static void place(const std::vector<Moment>& side, Clusters::Finder& find,
                    std::vector<Placed>& placed) {
    placed.clear();
    for (const Moment& moment : side) {
      const std::uint32_t cluster = find(moment.time);
      if (cluster != k_none) placed.push_back({cluster, {moment.event, moment.rank}});
    }
    std::stable_sort(placed.begin(), placed.end(),
                     [](const Placed& a, const Placed& b) { return a.cluster < b.cluster; });
  }

  void add(const Instance& instance) {
    place(instance.sends, find_, sends_);
    place(instance.receives, find_, receives_);
    auto receive = receives_.begin();
    for (auto send = sends_.begin(); send != sends_.end();) {
      const std::uint32_t cluster = send->cluster;
      const auto end_of_cluster = [&](auto first, auto last) {
        return std::find_if(first, last, [&](const Placed& p) { return p.cluster != cluster; });
      };
      while (receive != receives_.end() && receive->cluster < cluster) ++receive;
      const auto send_end = end_of_cluster(send, sends_.end());
      const auto receive_end = end_of_cluster(receive, receives_.end());
      if (receive != receive_end) {
        Shipment& to = home(cluster);
        to.heads.push_back({.cluster = cluster,
                            .ordered = instance.ordered,
                            .sends = static_cast<std::uint32_t>(send_end - send),
                            .receives = static_cast<std::uint32_t>(receive_end - receive)});
        for (auto end = send; end != send_end; ++end) to.ends.push_back(end->end);
        for (auto end = receive; end != receive_end; ++end) to.ends.push_back(end->end);
      }
      send = send_end;
      receive = receive_end;
    }
  }

  const Clusters& clusters_;
  std::vector<Shipment> out_;  ///< one per member
  Clusters::Finder find_{clusters_};
  std::vector<Placed> sends_, receives_;
};

/// The part of an instance that lies inside one cluster.
struct Part {
  PartHead head;
  std::span<const PartEnd> ends;

  void add_to(OrderGraph& graph) const {
    const auto sends = ends.first(head.sends), receives = ends.subspan(head.sends);
    if (head.ordered) {
      add_chain(graph, sends, receives);
      return;
    }
    const std::uint32_t hub = graph.add_vertex();
    for (const PartEnd& send : sends) graph.add_entry(send.event, hub);
    for (const PartEnd& receive : receives) graph.add_exit(hub, receive.event);
  }

 private:
  /// The i-th vertex stands for "the senders 0 .. i have begun".
  static void add_chain(OrderGraph& graph, std::span<const PartEnd> sends,
                        std::span<const PartEnd> receives) {
    std::uint32_t link = 0;
    auto send = sends.begin();
    for (const PartEnd& receive : receives) {
      for (; send != sends.end() && send->rank < receive.rank; ++send) {
        const std::uint32_t next = graph.add_vertex();
        graph.add_entry(send->event, next);
        if (send != sends.begin()) graph.add_link(link, next);
        link = next;
      }
      if (send != sends.begin()) graph.add_exit(link, receive.event);
    }
  }
};

/// Returns the parts, sorted by cluster.
std::vector<Part> parts_of(const Shipment& shipment) {
  std::vector<Part> parts;
  std::span<const PartEnd> rest(shipment.ends);
  for (const PartHead& head : shipment.heads) {
    const std::size_t count = std::size_t{head.sends} + head.receives;
    parts.push_back({head, rest.first(count)});
    rest = rest.subspan(count);
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.head.cluster < b.head.cluster; });
  return parts;
}

/// Fails if 32 bits do not suffice for vertices and arcs.
Result<void> require_countable(std::size_t edges) {
  if (edges < std::size_t{1} << 30) return {};
  return fail(ErrorKind::input,
              "the clocks are so far apart that cycles could be anywhere, and the trace is too "
              "large to look for them; synchronise it first (--presync)");
}

/// Searches the clusters of this member, one after the other.
std::vector<ComponentInstant> search(Shipment& shipment, const Places& places,
                                     const Cancel& cancel) {
  BigVector<ClusterEdge>& edges = shipment.edges;
  const auto before = [](const ClusterEdge& a, const ClusterEdge& b) {
    return a.cluster < b.cluster;
  };
  if (!std::is_sorted(edges.begin(), edges.end(), before)) {
    std::sort(edges.begin(), edges.end(), before);  // the order inside a cluster does not matter
  }
  const std::vector<Part> parts = parts_of(shipment);
  std::vector<ComponentInstant> found;
  OrderGraph graph(places);
  std::uint32_t components = 0;
  auto edge = edges.cbegin();
  auto part = parts.cbegin();
  while (edge != edges.cend() || part != parts.cend()) {
    if (cancel.asked()) break;
    const std::uint32_t cluster = std::min(edge != edges.cend() ? edge->cluster : k_none,
                                           part != parts.cend() ? part->head.cluster : k_none);
    const auto first = edge;
    edge = std::find_if(edge, edges.cend(),
                        [&](const ClusterEdge& other) { return other.cluster != cluster; });
    const bool any_part = part != parts.cend() && part->head.cluster == cluster;
    if (edge - first < 2 && !any_part) continue;  // one edge alone is no cycle
    graph.begin({first, edge});
    for (; part != parts.cend() && part->head.cluster == cluster; ++part) part->add_to(graph);
    graph.for_each_component(components, [&](EventRef instant, std::uint32_t component) {
      found.push_back({component, instant});
    });
  }
  return found;
}

/// Numbers the components of all members consecutively. Returns the number before those of this
/// member, and the total.
std::pair<std::uint32_t, std::uint32_t> number_components(Team& team, std::uint32_t own) {
  std::vector<std::int64_t> counts(team.size(), 0);
  counts[team.rank()] = own;
  team.reduce(Team::Reduction::sum, counts);
  std::uint32_t before = 0, all = 0;
  for (unsigned r = 0; r < team.size(); ++r) {
    if (r == team.rank()) before = all;
    all += static_cast<std::uint32_t>(counts[r]);
  }
  return {before, all};
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
  std::sort(instants.begin(), instants.end());
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

void Cycles::find_wide(const trace::Share& share) {
  std::vector<std::int64_t> wide(dropped_.size(), 0);
  for (const Range& range : ranges_) {
    const LocationIndex l = range.first.location;
    if (share.owns(l) && is_wide(share.trace.locations[l], range.first.event, range.last)) {
      wide[range.component] = 1;
    }
  }
  share.team.reduce(Team::Reduction::max, wide);
  dropped_.assign(wide.begin(), wide.end());
}

std::uint32_t Cycles::of(EventRef event, std::size_t& hint) const {
  const auto begins_after = [&](std::size_t i) {
    return i == ranges_.size() || event < ranges_[i].first;
  };
  // The range wanted is the last one that does not begin after the event.
  if (begins_after(hint) || !begins_after(hint + 1)) {
    if (!begins_after(hint) && !begins_after(hint + 1) && begins_after(hint + 2)) {
      ++hint;
    } else {
      const auto after =
          std::upper_bound(ranges_.begin(), ranges_.end(), event,
                           [](const EventRef& e, const Range& range) { return e < range.first; });
      if (after == ranges_.begin()) return k_none;
      hint = static_cast<std::size_t>(after - ranges_.begin()) - 1;
    }
  }
  const Range& range = ranges_[hint];
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
    Shipper shipper(team.size(), clusters);
    shipper.add(relation, init_finalize);
    Shipment shipment = shipper.exchange(team);
    TRY(team.agree(
        require_countable(shipment.edges.size() + shipment.heads.size() + shipment.ends.size())));
    own = ranges_of(search(shipment, relation.places(), cancel));
    TRY(cancel.agree(team));
  }
  const auto [before, all] = number_components(team, own.empty() ? 0 : own.back().component + 1);
  if (all == 0) return cycles;
  for (Range& range : own) range.component += before;
  cycles.ranges_ = gather_everywhere(team, own);
  std::sort(cycles.ranges_.begin(), cycles.ranges_.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  cycles.dropped_.assign(all, false);
  cycles.find_wide(share);
  return cycles;
}

}  // namespace entrain::verify
