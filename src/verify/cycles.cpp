// SPDX-License-Identifier: BSD-3-Clause
#include "verify/cycles.hpp"

#include <algorithm>
#include <limits>
#include <span>
#include <tuple>

#include "base/free_memory.hpp"
#include "base/try.hpp"
#include "verify/order_graph.hpp"

namespace entrain::verify {

namespace {

/// What of an instance lies inside a cluster.
struct PartHead {
  std::uint32_t cluster = k_none;
  std::uint32_t ordered = 0;
  std::uint32_t sends = 0;
  std::uint32_t receives = 0;
};
struct PartEnd {
  EventRef event;
  std::uint32_t rank = 0;
};

/// An instant of a component. Components are numbered by the member that found them.
using Member = std::pair<std::uint32_t, EventRef>;

/// Brings the edges inside each cluster to one member.
class Shipment {
 public:
  Shipment(unsigned members, const Clusters& clusters)
      : clusters_(clusters), edges_(members), parts_(members) {}

  void add(const Relation& relation, bool init_finalize) {
    for (const MatchedChannel& channel : relation.channels()) add(relation, channel);
    Clusters::Finder find_send(clusters_), find_receive(clusters_);
    relation.for_each_thread_pair([&](const Pair& pair) {
      const std::uint32_t cluster = find_send(pair.send_time);
      if (cluster != k_none && cluster == find_receive(pair.receive_time)) {
        edges_[cluster % edges_.size()].push_back({cluster, pair.send, pair.receive});
      }
    });
    relation.for_each_instance([&](const Instance& instance) {
      if (instance.kind == EdgeKind::init_finalize && !init_finalize) return;
      add(instance);
    });
  }

  std::vector<ClusterEdge> exchange_edges(Team& team) { return flatten(team, edges_); }
  std::vector<PartEnd> exchange_parts(Team& team) { return flatten(team, parts_); }

 private:
  template <class T>
  static std::vector<T> flatten(Team& team, std::vector<std::vector<T>>& outgoing) {
    auto received = exchange(team, std::move(outgoing));
    std::vector<T> all = std::move(received.front());
    for (std::size_t r = 1; r < received.size(); ++r) {
      all.insert(all.end(), received[r].begin(), received[r].end());
      free_memory(received[r]);
    }
    return all;
  }

  void add(const Relation& relation, const MatchedChannel& channel) {
    Clusters::Finder find_send(clusters_), find_receive(clusters_);
    Pair pair;
    for (std::uint32_t k = 0; k < channel.pairs; ++k) {
      const std::uint32_t cluster = find_send(channel.sends.time(k));
      if (cluster == k_none || cluster != find_receive(channel.receives.time(k))) continue;
      if (!relation.pair(channel, k, pair)) continue;
      edges_[cluster % edges_.size()].push_back({cluster, pair.send, pair.receive});
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
      const auto of = [&](auto first, auto last) {
        return std::find_if(first, last, [&](const Placed& p) { return p.cluster != cluster; });
      };
      while (receive != receives_.end() && receive->cluster < cluster) ++receive;
      const auto send_end = of(send, sends_.end());
      const auto receive_end = of(receive, receives_.end());
      if (receive != receive_end) {
        auto& to = parts_[cluster % parts_.size()];
        // The head takes two entries of the same list.
        to.push_back({{cluster, instance.ordered ? 1U : 0U}, 0});
        to.push_back({{static_cast<std::uint32_t>(send_end - send),
                       static_cast<std::uint32_t>(receive_end - receive)},
                      0});
        for (auto end = send; end != send_end; ++end) to.push_back(end->end);
        for (auto end = receive; end != receive_end; ++end) to.push_back(end->end);
      }
      send = send_end;
      receive = receive_end;
    }
  }

  const Clusters& clusters_;
  std::vector<std::vector<ClusterEdge>> edges_;  ///< by member
  std::vector<std::vector<PartEnd>> parts_;      ///< by member
  Clusters::Finder find_{clusters_};
  std::vector<Placed> sends_, receives_;
};

/// A part of an instance, where it lies among those received.
struct Part {
  PartHead head;
  std::span<const PartEnd> ends;

  void add_to(OrderGraph& graph) const {
    const auto sends = ends.first(head.sends), receives = ends.subspan(head.sends);
    if (head.ordered != 0) {
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

std::vector<Part> parts_of(std::span<const PartEnd> entries) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < entries.size();) {
    const EventRef what = entries[i].event, size = entries[i + 1].event;
    const PartHead head{what.location, what.event, size.location, size.event};
    parts.push_back({head, entries.subspan(i + 2, std::size_t{head.sends} + head.receives)});
    i += 2 + std::size_t{head.sends} + head.receives;
  }
  std::sort(parts.begin(), parts.end(),
            [](const Part& a, const Part& b) { return a.head.cluster < b.head.cluster; });
  return parts;
}

/// Vertices and arcs are numbered by 32 bits.
Result<void> require_countable(std::size_t edges) {
  if (edges < std::size_t{1} << 30) return {};
  return fail(ErrorKind::input,
              "the clocks are so far apart that cycles could be anywhere, and the trace is too "
              "large to look for them; synchronise it first (--presync)");
}

/// Looks at the clusters of this member, one after the other.
std::vector<Member> search(std::vector<ClusterEdge>& edges, std::span<const PartEnd> entries,
                           const Places& places, const Progress* progress) {
  const auto before = [](const ClusterEdge& a, const ClusterEdge& b) {
    return a.cluster < b.cluster;
  };
  if (!std::is_sorted(edges.begin(), edges.end(), before)) {
    std::sort(edges.begin(), edges.end(), before);  // the order inside a cluster does not matter
  }
  const std::vector<Part> parts = parts_of(entries);
  std::vector<Member> found;
  OrderGraph graph(places);
  std::uint32_t components = 0;
  auto edge = edges.cbegin();
  auto part = parts.cbegin();
  while (edge != edges.cend() || part != parts.cend()) {
    if (!stop_if_cancelled(progress)) break;
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

/// Gives components numbers that all members agree on: how many stand before those of this one,
/// and how many there are.
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

/// Whether the events from one instant to another of a location lie further apart than two
/// granules of its timer, seen from the first.
bool is_wide(const trace::LocationSkeleton& location, std::uint32_t first, std::uint32_t last) {
  const std::uint64_t granule = std::max<std::uint64_t>(location.granule, 1);
  const std::uint64_t limit =
      granule > std::numeric_limits<std::uint64_t>::max() / 2 ? granule : 2 * granule;
  const std::uint64_t since = location.events[first].time;
  for (std::uint32_t e = first; e <= last; ++e) {
    const std::uint64_t time = location.events[e].time;
    if (time > since && time - since > limit) return true;
  }
  return false;
}

}  // namespace

std::vector<Cycles::Range> Cycles::ranges_of(std::vector<Member>&& members) {
  std::sort(members.begin(), members.end());
  std::vector<Range> ranges;
  for (const auto& [component, instant] : members) {
    if (!ranges.empty() && ranges.back().component == component &&
        ranges.back().first.location == instant.location) {
      ranges.back().last = instant.event;
    } else {
      ranges.push_back({instant, instant.event, component});
    }
  }
  return ranges;
}

void Cycles::find_wide(Team& team, const trace::Partition& partition, const trace::Trace& trace) {
  std::vector<std::int64_t> wide(dropped_.size(), 0);
  for (const Range& range : ranges_) {
    const LocationIndex l = range.first.location;
    if (partition.owns(team.rank(), l) &&
        is_wide(trace.locations[l], range.first.event, range.last)) {
      wide[range.component] = 1;
    }
  }
  team.reduce(Team::Reduction::max, wide);
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

Result<Cycles> Cycles::find(Team& team, const trace::Partition& partition,
                            const trace::Trace& trace, const Relation& relation,
                            const Clusters& clusters, bool init_finalize,
                            const Progress* progress) {
  Cycles cycles;
  if (clusters.empty()) return cycles;
  std::vector<Range> own;
  {
    Shipment shipment(team.size(), clusters);
    shipment.add(relation, init_finalize);
    std::vector<ClusterEdge> edges = shipment.exchange_edges(team);
    const std::vector<PartEnd> parts = shipment.exchange_parts(team);
    TRY(team.agree(require_countable(edges.size() + parts.size())));
    own = ranges_of(search(edges, parts, relation.places(), progress));
    TRY(team.agree(stop_if_cancelled(progress)));
  }
  const auto [before, all] = number_components(team, own.empty() ? 0 : own.back().component + 1);
  if (all == 0) return cycles;
  for (Range& range : own) range.component += before;
  cycles.ranges_ = gather_everywhere(team, own);
  std::sort(cycles.ranges_.begin(), cycles.ranges_.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
  cycles.dropped_.assign(all, false);
  cycles.find_wide(team, partition, trace);
  return cycles;
}

}  // namespace entrain::verify
