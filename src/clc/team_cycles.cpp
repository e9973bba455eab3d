// SPDX-License-Identifier: BSD-3-Clause
#include "clc/team_cycles.hpp"

#include <algorithm>
#include <array>

#include "base/flat_map.hpp"
#include "base/order.hpp"
#include "base/strong_components.hpp"
#include "base/try.hpp"
#include "clc/components.hpp"
#include "match/extremes.hpp"
#include "match/halo.hpp"

namespace entrain::clc {

namespace {

/// A node as all members name it.
using Name = match::Ghost;

/// In order of locations, then of nodes.
std::uint64_t key_of(const Name& name) { return std::uint64_t{name.location} << 32 | name.node; }
struct StampedName {
  Name name;
  std::uint64_t stamp = 0;
};
/// An arc of the relation; its ends are nodes or, with location k_none, further vertices.
struct NamedArc {
  Name from, to;
};

Name name_of(const match::Graph& graph, NodeIndex node) {
  if (graph.is_ghost(node)) return graph.halo.ghosts[node - graph.own_count()];
  return {graph.location_of(node), node};
}

template <class T>
std::vector<std::vector<T>> at_root(Team& team, std::vector<T> values) {
  std::vector<std::vector<T>> parcels(team.size());
  parcels[0] = std::move(values);
  return exchange(team, std::move(parcels));
}

/// The relation between suspects, put together at rank 0.
class Gathering {
 public:
  Gathering(const trace::Share& share, const match::Graph& graph, const std::vector<bool>& suspects)
      : team_(share.team), graph_(graph), suspects_(suspects), path_(share.trace.path) {}

  /// Components of more than one node by the names of their nodes, in the order of their first
  /// ones; empty but at rank 0.
  struct Found {
    std::vector<std::vector<Name>> tied;    ///< span at most two granules on every location
    std::vector<std::vector<Name>> errors;  ///< wider: no timer explains them
  };
  /// Errors, the same at every member: ErrorKind::input if the relation is too large.
  Result<Found> search() {
    for (NodeIndex n = 0; n < graph_.own_count(); ++n) {
      if (suspects_[n]) nodes_.push_back({name(n), graph_.stamp[n]});
    }
    list_arcs();
    TRY(require_countable());
    gather_nodes();
    const std::vector<Arc> arcs = gather_arcs();
    granules_.assign(graph_.granule.begin(), graph_.granule.end());
    team_.reduce(Team::Reduction::max, granules_);
    if (team_.rank() != 0) return Found{};
    StrongComponents components(vertices_);
    components.find(arcs, [](const Arc& arc) { return arc; });
    return named(components);
  }

 private:
  [[nodiscard]] Name name(NodeIndex node) const { return name_of(graph_, node); }

  void list_arcs() {
    for (const match::Edge& edge : graph_.edges) {
      if (suspects_[edge.send] && suspects_[edge.receive]) {
        arcs_.push_back({name(edge.send), name(edge.receive)});
      }
    }
    for (const match::Exchange& exchange : graph_.exchanges) list_exchange(exchange);
  }

  /// An auxiliary vertex leads from the sends to the receives. In an ordered exchange each send has
  /// one, which leads to that of the next send and to the receives between both.
  void list_exchange(const match::Exchange& exchange) {
    const auto sends = graph_.sends(exchange);
    std::size_t added = 0;
    Name behind;
    for (const match::Participant& receive : graph_.receives(exchange)) {
      for (; added < sends.size() && (!exchange.ordered || sends[added].order < receive.order);
           ++added) {
        if (!suspects_[sends[added].node]) continue;
        if (exchange.ordered || behind.node == k_none) {
          const Name next{k_none, vertices_++};
          if (behind.node != k_none) arcs_.push_back({behind, next});
          behind = next;
        }
        arcs_.push_back({name(sends[added].node), behind});
      }
      if (behind.node != k_none && suspects_[receive.node]) {
        arcs_.push_back({behind, name(receive.node)});
      }
    }
  }

  [[nodiscard]] Result<void> require_countable() const {
    std::array<std::int64_t, 2> sums{static_cast<std::int64_t>(nodes_.size()) + vertices_,
                                     static_cast<std::int64_t>(arcs_.size())};
    team_.reduce(Team::Reduction::sum, sums);
    const match::GraphSize size{.nodes = static_cast<std::uint64_t>(sums[0]),
                                .edges = static_cast<std::uint64_t>(sums[0] + sums[1])};
    if (match::require_countable(size, path_)) return {};
    return input_error(
        "equal stamps in {} may close cycles of more events than can be searched at once", path_);
  }

  void gather_nodes() {
    std::vector<StampedName> all;
    for (const auto& part : at_root(team_, std::move(nodes_))) {
      all.insert(all.end(), part.begin(), part.end());
    }
    std::ranges::sort(all, {}, key);
    nodes_ = std::move(all);
  }

  /// The arcs of all members, and local order.
  std::vector<Arc> gather_arcs() {
    std::vector<Arc> arcs;
    vertices_ = static_cast<std::uint32_t>(nodes_.size());
    for (const std::vector<NamedArc>& part : at_root(team_, std::move(arcs_))) {
      std::uint32_t further = 0;  // vertices of this member
      const auto vertex = [&](Name n) {
        if (n.location != k_none) return number(n);
        further = std::max(further, n.node + 1);
        return vertices_ + n.node;
      };
      for (const NamedArc& arc : part) arcs.push_back({vertex(arc.from), vertex(arc.to)});
      vertices_ += further;
    }
    for (std::uint32_t n = 1; n < nodes_.size(); ++n) {
      if (nodes_[n].name.location == nodes_[n - 1].name.location) arcs.push_back({n - 1, n});
    }
    return arcs;
  }

  static std::uint64_t key(const StampedName& one) { return key_of(one.name); }

  [[nodiscard]] std::uint32_t number(const Name& name) const {
    const auto found = std::ranges::lower_bound(nodes_, key_of(name), {}, key);
    return static_cast<std::uint32_t>(found - nodes_.begin());
  }

  [[nodiscard]] Found named(const StrongComponents& components) const {
    std::vector<std::vector<std::uint32_t>> nodes_of(vertices_);
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (components.of(n) != k_none) nodes_of[components.of(n)].push_back(n);
    }
    Found result;
    for (std::uint32_t n = 0; n < nodes_.size(); ++n) {
      if (components.of(n) == k_none) continue;
      const std::vector<std::uint32_t>& component = nodes_of[components.of(n)];
      if (component.size() < 2 || component.front() != n) continue;
      std::vector<Name>& names = (is_tie(component) ? result.tied : result.errors).emplace_back();
      for (const std::uint32_t m : component) names.push_back(nodes_[m].name);
    }
    return result;
  }

  [[nodiscard]] bool is_tie(std::span<const std::uint32_t> component) const {
    std::size_t first = 0;  // of the location
    for (std::size_t i = 0; i < component.size(); ++i) {
      const StampedName &begin = nodes_[component[first]], &end = nodes_[component[i]];
      if (begin.name.location != end.name.location) {
        first = i;
        continue;
      }
      const std::int64_t granule = std::max<std::int64_t>(granules_[begin.name.location], 1);
      if (end.stamp - begin.stamp > 2 * static_cast<std::uint64_t>(granule)) return false;
    }
    return true;
  }

  Team& team_;
  const match::Graph& graph_;
  const std::vector<bool>& suspects_;
  const std::string& path_;
  std::vector<StampedName> nodes_;  ///< nodes of this member; then at rank 0 of all, by name
  std::vector<NamedArc> arcs_;
  std::uint32_t vertices_ = 0;  ///< further vertices of this member; then all of the relation
  std::vector<std::int64_t> granules_;
};

/// The lists of rank 0, the only one that has any, at every member.
std::vector<std::vector<Name>> broadcast(Team& team, const std::vector<std::vector<Name>>& lists) {
  struct Entry {
    std::size_t list;
    Name name;
  };
  std::vector<Entry> entries;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (const Name& name : lists[i]) entries.push_back({i, name});
  }
  std::vector<std::vector<Name>> result;
  for (const Entry& entry : gather_everywhere(team, entries)) {
    if (entry.list == result.size()) result.emplace_back();
    result.back().push_back(entry.name);
  }
  return result;
}

/// Notes the components in the numbers of this member.
void tie_components(const trace::Share& share, const match::Graph& graph,
                    const std::vector<std::vector<Name>>& components, Cycles& result) {
  if (components.empty()) return;
  FlatMap<std::uint64_t, NodeIndex, IntegerHash> ghosts;
  for (std::size_t g = 0; g < graph.halo.ghosts.size(); ++g) {
    ghosts.insert(key_of(graph.halo.ghosts[g]), static_cast<NodeIndex>(graph.own_count() + g));
  }
  result.tied_of.assign(graph.node_count(), k_none);
  for (std::uint32_t c = 0; c < components.size(); ++c) {
    TiedNodes& tied = result.tied.emplace_back();
    for (const Name& name : components[c]) {
      if (share.owns(name.location)) {
        tied.nodes.push_back(name.node);
        result.tied_of[name.node] = c;
      } else {
        tied.peers.push_back(share.partition.owner[name.location]);
        const NodeIndex* const ghost = ghosts.find(key_of(name));
        if (ghost != nullptr) result.tied_of[*ghost] = c;
      }
    }
    std::ranges::sort(tied.nodes);
    sort_unique(tied.peers);
    if (tied.nodes.empty()) tied.peers.clear();  // nothing to propose, no member to inform
    result.tied_nodes += components[c].size();
  }
}

/// Times C, both included.
struct TimeWindow {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

/// From every receive back in time to its latest send, where that is not earlier.
std::vector<TimeWindow> backward_windows(const match::Graph& graph,
                                         std::span<const std::int64_t> times) {
  std::vector<TimeWindow> windows;
  const auto add = [&](NodeIndex receive, std::int64_t sent) {
    if (sent >= times[receive]) windows.push_back({times[receive], sent});
  };
  for (const match::Edge& edge : graph.edges) add(edge.receive, times[edge.send]);
  for (const match::Exchange& exchange : graph.exchanges) {
    const auto sends = graph.sends(exchange);
    std::int64_t latest = match::k_no_demand;
    std::size_t added = 0;
    for (const match::Participant& receive : graph.receives(exchange)) {
      for (; added < sends.size() && (!exchange.ordered || sends[added].order < receive.order);
           ++added) {
        latest = std::max(latest, times[sends[added].node]);
      }
      add(receive.node, latest);
    }
  }
  return windows;
}

/// Windows that do not touch, in order, with the same times.
std::vector<TimeWindow> united(std::vector<TimeWindow> windows) {
  std::ranges::sort(windows, {}, &TimeWindow::first);
  std::vector<TimeWindow> result;
  for (const TimeWindow& window : windows) {
    if (result.empty() || window.first > result.back().last) {
      result.push_back(window);
    } else {
      result.back().last = std::max(result.back().last, window.last);
    }
  }
  return result;
}

}  // namespace

std::vector<bool> cycle_suspects(Team& team, const match::Graph& graph,
                                 std::span<const std::int64_t> presync,
                                 std::span<const NodeIndex> left) {
  const std::vector<TimeWindow> windows =
      united(gather_everywhere(team, united(backward_windows(graph, presync))));
  std::vector<bool> suspects(graph.node_count(), false);
  for (LocationIndex l = 0; l < graph.location_count(); ++l) {
    auto window = windows.begin();
    for (NodeIndex n = left[l]; n < graph.first_node[l + 1]; ++n) {
      while (window != windows.end() && window->last < presync[n]) ++window;
      suspects[n] = window != windows.end() && window->first <= presync[n];
    }
  }
  match::HaloExchange(team, graph).share_marks(suspects);
  return suspects;
}

Result<Cycles> settle_cycles(const trace::Share& share, match::Graph& graph,
                             std::span<const std::int64_t> presync,
                             std::span<const NodeIndex> left) {
  const std::vector<bool> suspects = cycle_suspects(share.team, graph, presync, left);
  TRY_ASSIGN(Gathering::Found found, Gathering(share, graph, suspects).search());
  found.tied = broadcast(share.team, found.tied);
  found.errors = broadcast(share.team, found.errors);
  Cycles result, errors;
  tie_components(share, graph, found.tied, result);
  result.dropped_components = found.errors.size();
  if (found.errors.empty()) return result;
  tie_components(share, graph, found.errors, errors);
  result.dropped_edges = static_cast<std::uint64_t>(share.team.reduce(
      Team::Reduction::sum, static_cast<std::int64_t>(drop_inner_edges(graph, errors.tied_of))));
  return result;
}

}  // namespace entrain::clc
