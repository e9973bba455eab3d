// SPDX-License-Identifier: BSD-3-Clause
#include "clc/domain_view.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/order.hpp"
#include "clc/components.hpp"
#include "match/halo.hpp"

namespace entrain::clc {

namespace {

/// Takes a graph whose streams are locations and returns it with domains as its streams.
class Merger {
 public:
  Merger(Team& team, match::Graph graph, const trace::ClockDomains& domains)
      : team_(team), old_(std::move(graph)), domains_(domains) {}

  match::Graph run() {
    merge_nodes();
    number_ghosts();
    merge_edges();
    for (const match::Exchange& exchange : old_.exchanges) add(exchange);
    describe_domains();
    new_.unmatched = std::move(old_.unmatched);
    new_.skipped = std::move(old_.skipped);
    return std::move(new_);
  }

 private:
  [[nodiscard]] std::uint32_t domain(LocationIndex l) const { return domains_.of[l]; }

  void merge_nodes() {
    number_.resize(old_.node_count());
    new_.first_node.push_back(0);
    std::vector<std::pair<std::uint64_t, NodeIndex>> nodes;
    for (const auto& members : domains_.members) {
      nodes.clear();
      for (const LocationIndex l : members) {
        for (NodeIndex n = old_.first_node[l]; n < old_.first_node[l + 1]; ++n) {
          nodes.emplace_back(old_.stamp[n], n);
        }
      }
      if (members.size() > 1) std::ranges::sort(nodes);
      const std::size_t first = new_.stamp.size();
      for (const auto& [stamp, node] : nodes) {
        if (new_.stamp.size() == first || new_.stamp.back() != stamp) new_.stamp.push_back(stamp);
        number_[node] = static_cast<std::int64_t>(new_.stamp.size()) - 1;
      }
      new_.first_node.push_back(static_cast<NodeIndex>(new_.stamp.size()));
    }
  }

  /// Nodes that became one are one ghost: the first of a list, at both members that share it.
  void number_ghosts() {
    match::HaloExchange(team_, old_).publish(number_);
    const match::Halo& halo = old_.halo;
    new_.halo.ghosts_of.resize(halo.ghosts_of.size());
    new_.halo.shown_to.resize(halo.shown_to.size());
    std::set<NodeIndex> seen;
    for (std::size_t r = 0; r < halo.shown_to.size(); ++r) {
      seen.clear();
      for (const NodeIndex n : halo.shown_to[r]) {
        const auto node = static_cast<NodeIndex>(number_[n]);
        if (seen.insert(node).second) new_.halo.shown_to[r].push_back(node);
      }
    }
    std::map<NodeIndex, NodeIndex> ghosts;  // by the owner's number
    for (std::size_t r = 0; r < halo.ghosts_of.size(); ++r) {
      ghosts.clear();
      for (const NodeIndex n : halo.ghosts_of[r]) {
        const auto node = static_cast<NodeIndex>(number_[n]);
        const auto next = static_cast<NodeIndex>(new_.stamp.size() + new_.halo.ghosts.size());
        const auto [found, is_new] = ghosts.emplace(node, next);
        if (is_new) {
          new_.halo.ghosts.push_back(
              {domain(old_.halo.ghosts[n - old_.own_count()].location), node});
          new_.halo.ghosts_of[r].push_back(next);
        }
        number_[n] = found->second;
      }
    }
  }

  [[nodiscard]] NodeIndex number(NodeIndex node) const {
    return static_cast<NodeIndex>(number_[node]);
  }

  void merge_edges() {
    new_.extra_mu = old_.extra_mu;
    for (const match::Edge& edge : old_.edges) {
      if (domain(old_.location_of(edge.send)) == domain(old_.location_of(edge.receive))) continue;
      match::Edge merged = edge;
      merged.send = number(edge.send);
      merged.receive = number(edge.receive);
      new_.edges.push_back(merged);
    }
    std::ranges::sort(new_.edges, [](const match::Edge& a, const match::Edge& b) {
      return std::tie(a.receive, a.send, a.kind) < std::tie(b.receive, b.send, b.kind);
    });
  }

  [[nodiscard]] Participants merged(std::span<const match::Participant> side) const {
    Participants result(side.begin(), side.end());
    for (match::Participant& m : result) m = {number(m.node), domain(m.location), m.order};
    return result;
  }

  void add(const match::Exchange& exchange) {
    const Participants sends = merged(old_.sends(exchange));
    Participants receives = merged(old_.receives(exchange));
    const std::set<std::uint32_t> apart =
        exchange.ordered ? lower_orders(sends, receives) : overlapping(sends, receives);
    add_apart(new_, exchange, sends, receives, apart,
              [](const match::Participant& one) { return one.location; });
  }

  /// The number of a node among those of its domain: as its owner numbers it.
  [[nodiscard]] NodeIndex in_stream(NodeIndex node) const {
    return new_.is_ghost(node) ? new_.halo.ghosts[node - new_.own_count()].node : node;
  }

  /// Domains in which a participant begins when another one has ended, or at the same time. The
  /// schedule of a stream knows only of a single begin that shares its node with an end.
  [[nodiscard]] std::set<std::uint32_t> overlapping(const Participants& sends,
                                                    const Participants& receives) const {
    struct Range {
      NodeIndex last_send = 0;
      std::uint32_t sends = 0;
    };
    std::set<std::uint32_t> apart;
    std::map<std::uint32_t, Range> ranges;
    for (const match::Participant& send : sends) {
      Range& range = ranges[send.location];
      range.last_send = std::max(range.last_send, in_stream(send.node));
      ++range.sends;
    }
    for (const match::Participant& receive : receives) {
      const auto range = ranges.find(receive.location);
      if (range == ranges.end()) continue;
      const NodeIndex end = in_stream(receive.node);
      const auto& [last_send, count] = range->second;
      if (end < last_send || (end == last_send && count > 1)) apart.insert(receive.location);
    }
    return apart;
  }

  /// In a prefix sum a domain of neighbouring ranks waits for those below its lowest one: that is
  /// the order of its ends from now on. Returns the domains of scattered ranks.
  static std::set<std::uint32_t> lower_orders(const Participants& sends, Participants& receives) {
    struct Range {
      std::uint32_t lowest = k_none;
      std::size_t first = 0, last = 0, count = 0;  ///< positions among the sends
    };
    std::map<std::uint32_t, Range> ranges;
    for (std::size_t i = 0; i < sends.size(); ++i) {
      Range& range = ranges[sends[i].location];
      if (range.count++ == 0) {
        range.lowest = sends[i].order;
        range.first = i;
      }
      range.last = i;
    }
    std::set<std::uint32_t> apart;
    for (const match::Participant& receive : receives) {
      const auto range = ranges.find(receive.location);
      if (range == ranges.end() || receive.order <= range->second.lowest) continue;
      const auto& [lowest, first, last, count] = range->second;
      const std::size_t before = first_not_below(sends, receive.order);
      if (last - first + 1 != count || before > last + 1) apart.insert(receive.location);
    }
    for (match::Participant& receive : receives) {
      const auto range = ranges.find(receive.location);
      if (range == ranges.end() || apart.contains(receive.location)) continue;
      receive.order = std::min(receive.order, range->second.lowest);
    }
    std::ranges::stable_sort(receives, {}, &match::Participant::order);
    return apart;
  }

  void describe_domains() {
    for (const auto& members : domains_.members) {
      new_.process_of.push_back(old_.process_of[members.front()]);
      new_.node_of.push_back(old_.node_of[members.front()]);
      std::uint64_t granule = 0;
      for (const LocationIndex l : members) {
        const std::uint64_t own = old_.granule[l];
        if (own > 0) granule = granule == 0 ? own : std::min(granule, own);
      }
      new_.granule.push_back(granule);
    }
  }

  Team& team_;
  match::Graph old_;
  const trace::ClockDomains& domains_;
  match::Graph new_;
  std::vector<std::int64_t> number_;  ///< new number of each old node, ghosts included
};

/// Flushes that overlap become one: a map that is straight in both is so in their union.
void unite_overlapping(std::vector<trace::FlushInterval>& flushes) {
  std::vector<trace::FlushInterval> united;
  for (const trace::FlushInterval& flush : flushes) {  // in order of their beginning
    if (united.empty() || flush.begin >= united.back().end) {
      united.push_back(flush);
    } else {
      united.back().end = std::max(united.back().end, flush.end);
    }
  }
  flushes = std::move(united);
}

}  // namespace

DomainView merge_domains(const trace::Share& share, match::Graph graph,
                         std::vector<ClockMap> presync, const trace::ClockDomains& domains,
                         bool split_flushes) {
  const trace::Trace& trace = share.trace;
  DomainView view;
  view.graph = Merger(share.team, std::move(graph), domains).run();
  view.trace.path = trace.path;
  view.trace.definitions.clock = trace.definitions.clock;
  for (const auto& members : domains.members) {
    view.trace.definitions.locations.push_back(trace.definitions.locations[members.front()]);
    view.partition.owner.push_back(share.partition.owner[members.front()]);
    view.presync.push_back(std::move(presync[members.front()]));
    trace::LocationSkeleton& extent =
        view.trace.locations.emplace_back(trace::extent_of(trace, members));
    if (members.size() > 1) unite_overlapping(extent.flushes);
    // The view has no events, which would show the flushes that have some inside.
    if (split_flushes || members.size() > 1) {
      std::erase_if(extent.flushes, [&](const trace::FlushInterval& flush) {
        return std::ranges::any_of(members, [&](LocationIndex l) {
          return trace::events_inside(trace.locations[l], flush) > 0;
        });
      });
    }
  }
  return view;
}

ClockMap with_flush_knots(const ClockMap& map, const trace::LocationSkeleton& extent) {
  if (extent.flushes.empty()) return map;
  std::vector<std::uint64_t> stamps{extent.first, std::max(extent.last, extent.first + 1)};
  for (const ClockKnot& knot : map.knots()) stamps.push_back(knot.local);
  for (const trace::FlushInterval& flush : extent.flushes) {
    stamps.insert(stamps.end(), {flush.begin, flush.end});
  }
  sort_unique(stamps);
  std::vector<ClockKnot> knots;
  for (const std::uint64_t stamp : stamps) {
    knots.push_back({stamp, map(stamp) - static_cast<std::int64_t>(stamp)});
  }
  auto denser = ClockMap::from_knots(std::move(knots));
  return denser ? *std::move(denser) : map;
}

}  // namespace entrain::clc
