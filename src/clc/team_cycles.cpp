// SPDX-License-Identifier: BSD-3-Clause
#include "clc/team_cycles.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/core.h>

#include "base/flat_map.hpp"
#include "base/try.hpp"
#include "clc/components.hpp"
#include "match/extremes.hpp"
#include "match/halo.hpp"

namespace entrain::clc {

namespace {

/// A node as all members name it.
struct Name {
  LocationIndex location = k_none;
  NodeIndex node = k_none;  ///< number that the location's owner gives it

  [[nodiscard]] std::uint64_t key() const { return std::uint64_t{location} << 32 | node; }
  friend auto operator<=>(const Name&, const Name&) = default;
};
struct StampedName {
  Name name;
  std::uint64_t stamp = 0;
};
struct NamedEdge {
  Name send, receive;
};

Name name_of(const match::Graph& graph, NodeIndex node) {
  if (!graph.is_ghost(node)) return {graph.location_of(node), node};
  const match::Ghost& ghost = graph.halo.ghosts[node - graph.own_count()];
  return {ghost.location, ghost.node};
}

template <class T>
std::vector<std::vector<T>> at_root(Team& team, std::vector<T> values) {
  std::vector<std::vector<T>> parcels(team.size());
  parcels[0] = std::move(values);
  return exchange(team, std::move(parcels));
}

/// The part of the graph between suspects, put together at rank 0.
class Gathering {
 public:
  Gathering(Team& team, const match::Graph& graph, const std::vector<bool>& suspects)
      : team_(team), graph_(graph), suspects_(suspects) {}

  /// Components by the names of their nodes; empty but at rank 0.
  struct Found {
    std::vector<std::vector<Name>> tied, errors;
  };
  Found search() {
    gather_nodes();
    gather_edges();
    gather_exchanges();
    std::vector<std::int64_t> granules(graph_.granule.begin(), graph_.granule.end());
    team_.reduce(Team::Reduction::max, granules);
    whole_.granule.assign(granules.begin(), granules.end());
    if (team_.rank() != 0) return {};
    const Components components = find_components(whole_);
    return {named(components.tied), named(components.errors)};
  }

 private:
  [[nodiscard]] Name name(NodeIndex node) const { return name_of(graph_, node); }

  void gather_nodes() {
    std::vector<StampedName> own;
    for (NodeIndex n = 0; n < graph_.own_count(); ++n) {
      if (suspects_[n]) own.push_back({name(n), graph_.stamp[n]});
    }
    std::vector<StampedName> all;
    for (const auto& part : at_root(team_, std::move(own))) {
      all.insert(all.end(), part.begin(), part.end());
    }
    std::sort(all.begin(), all.end(),
              [](const StampedName& a, const StampedName& b) { return a.name < b.name; });
    whole_.first_node.assign(graph_.location_count() + 1, 0);
    for (const StampedName& node : all) {
      numbers_.insert(node.name.key(), static_cast<NodeIndex>(names_.size()));
      names_.push_back(node.name);
      whole_.stamp.push_back(node.stamp);
      ++whole_.first_node[node.name.location + 1];
    }
    for (std::size_t l = 0; l < graph_.location_count(); ++l) {
      whole_.first_node[l + 1] += whole_.first_node[l];
    }
  }

  void gather_edges() {
    std::vector<NamedEdge> own;
    for (const match::Edge& edge : graph_.edges) {
      if (suspects_[edge.send] && suspects_[edge.receive]) {
        own.push_back({name(edge.send), name(edge.receive)});
      }
    }
    for (const auto& part : at_root(team_, std::move(own))) {
      for (const NamedEdge& edge : part) {
        whole_.edges.push_back({number(edge.send), number(edge.receive)});
      }
    }
  }

  /// An exchange travels as: ordered, number of sends, of receives, then their members.
  void gather_exchanges() {
    std::vector<std::uint32_t> words;
    for (const match::Exchange& exchange : graph_.exchanges) {
      const std::vector<match::Participant> sends = suspected(graph_.sends(exchange));
      const std::vector<match::Participant> receives = suspected(graph_.receives(exchange));
      if (sends.empty() || receives.empty()) continue;
      words.insert(words.end(),
                   {exchange.ordered ? 1u : 0u, static_cast<std::uint32_t>(sends.size()),
                    static_cast<std::uint32_t>(receives.size())});
      for (const auto& side : {sends, receives}) {
        for (const match::Participant& m : side) {
          const Name n = name(m.node);
          words.insert(words.end(), {n.location, n.node, m.order});
        }
      }
    }
    for (const std::vector<std::uint32_t>& part : at_root(team_, std::move(words))) {
      std::span<const std::uint32_t> rest(part);
      while (!rest.empty()) rest = take_exchange(rest);
    }
  }

  [[nodiscard]] std::vector<match::Participant> suspected(
      std::span<const match::Participant> side) const {
    std::vector<match::Participant> result;
    std::copy_if(side.begin(), side.end(), std::back_inserter(result),
                 [&](const match::Participant& m) { return suspects_[m.node]; });
    return result;
  }

  std::span<const std::uint32_t> take_exchange(std::span<const std::uint32_t> words) {
    match::Exchange exchange{EdgeKind::n_to_n, words[0] != 0};
    exchange.first_send = static_cast<std::uint32_t>(whole_.participants.size());
    exchange.send_count = words[1];
    exchange.first_receive = exchange.first_send + exchange.send_count;
    exchange.receive_count = words[2];
    const std::size_t members = std::size_t{words[1]} + words[2];
    words = words.subspan(3);
    for (std::size_t i = 0; i < members; ++i) {
      whole_.participants.push_back(
          {number({words[3 * i], words[3 * i + 1]}), words[3 * i], words[3 * i + 2]});
    }
    whole_.exchanges.push_back(exchange);
    return words.subspan(3 * members);
  }

  NodeIndex number(Name name) { return *numbers_.find(name.key()); }

  [[nodiscard]] std::vector<std::vector<Name>> named(
      const std::vector<TiedNodes>& components) const {
    std::vector<std::vector<Name>> result;
    for (const TiedNodes& component : components) {
      std::vector<Name>& nodes = result.emplace_back();
      for (const NodeIndex n : component.nodes) nodes.push_back(names_[n]);
    }
    return result;
  }

  Team& team_;
  const match::Graph& graph_;
  const std::vector<bool>& suspects_;
  match::Graph whole_;
  std::vector<Name> names_;  ///< name of each node in whole_
  FlatMap<std::uint64_t, NodeIndex, IntegerHash> numbers_;
};

/// Lists of components go to everybody: number of nodes, then the nodes.
std::vector<std::vector<Name>> broadcast(Team& team, const std::vector<std::vector<Name>>& lists) {
  std::vector<std::uint32_t> words;
  for (const std::vector<Name>& list : lists) {
    words.push_back(static_cast<std::uint32_t>(list.size()));
    for (const Name& name : list) words.insert(words.end(), {name.location, name.node});
  }
  std::vector<std::vector<std::uint32_t>> parcels(team.size());
  if (team.rank() == 0) std::fill(parcels.begin(), parcels.end(), words);
  const std::vector<std::uint32_t> received = exchange(team, std::move(parcels))[0];
  std::vector<std::vector<Name>> result;
  for (std::size_t i = 0; i < received.size();) {
    std::vector<Name>& list = result.emplace_back();
    const std::size_t end = i + 1 + 2 * std::size_t{received[i]};
    for (++i; i < end; i += 2) list.push_back({received[i], received[i + 1]});
  }
  return result;
}

/// Translates names into numbers of this member.
class Numbering {
 public:
  Numbering(const trace::Share& share, const match::Graph& graph) : share_(share) {
    for (std::size_t g = 0; g < graph.halo.ghosts.size(); ++g) {
      const match::Ghost& ghost = graph.halo.ghosts[g];
      ghosts_.insert(Name{ghost.location, ghost.node}.key(),
                     static_cast<NodeIndex>(graph.own_count() + g));
    }
  }
  [[nodiscard]] bool is_own(Name name) const { return share_.owns(name.location); }
  [[nodiscard]] std::uint32_t owner(Name name) const {
    return share_.partition.owner[name.location];
  }
  /// k_none if the node is not known here.
  NodeIndex operator()(Name name) {
    if (is_own(name)) return name.node;
    const NodeIndex* ghost = ghosts_.find(name.key());
    return ghost == nullptr ? k_none : *ghost;
  }

 private:
  const trace::Share& share_;
  FlatMap<std::uint64_t, NodeIndex, IntegerHash> ghosts_;
};

void tie_components(const std::vector<std::vector<Name>>& components, Numbering& number,
                    const match::Graph& graph, Cycles& result) {
  if (components.empty()) return;
  result.tied_of.assign(graph.node_count(), k_none);
  for (std::uint32_t c = 0; c < components.size(); ++c) {
    TiedNodes& tied = result.tied.emplace_back();
    for (const Name& name : components[c]) {
      const NodeIndex n = number(name);
      if (n != k_none) result.tied_of[n] = c;
      if (number.is_own(name)) {
        tied.nodes.push_back(n);
      } else {
        tied.peers.push_back(number.owner(name));
      }
    }
    std::sort(tied.nodes.begin(), tied.nodes.end());
    std::sort(tied.peers.begin(), tied.peers.end());
    tied.peers.erase(std::unique(tied.peers.begin(), tied.peers.end()), tied.peers.end());
    if (tied.nodes.empty()) tied.peers.clear();  // nothing to propose, nobody to inform
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
  std::sort(windows.begin(), windows.end(),
            [](const TimeWindow& a, const TimeWindow& b) { return a.first < b.first; });
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

match::GraphSize size_between(Team& team, const match::Graph& graph,
                              const std::vector<bool>& suspects) {
  const auto suspected = [&](std::span<const match::Participant> side) {
    return std::count_if(side.begin(), side.end(),
                         [&](const match::Participant& m) { return suspects[m.node]; });
  };
  const auto own_end = suspects.begin() + static_cast<std::ptrdiff_t>(graph.own_count());
  std::array<std::int64_t, 4> sum{std::count(suspects.begin(), own_end, true)};
  for (const match::Edge& edge : graph.edges) {
    sum[1] += suspects[edge.send] && suspects[edge.receive] ? 1 : 0;
  }
  for (const match::Exchange& exchange : graph.exchanges) {
    const std::int64_t sends = suspected(graph.sends(exchange));
    const std::int64_t receives = suspected(graph.receives(exchange));
    if (sends == 0 || receives == 0) continue;
    ++sum[2];
    sum[3] += sends + receives;
  }
  team.reduce(Team::Reduction::sum, sum);
  const auto count = [&](std::size_t i) { return static_cast<std::uint64_t>(sum[i]); };
  return {.nodes = count(0), .edges = count(1), .exchanges = count(2), .participants = count(3)};
}

Result<Cycles> settle_cycles(const trace::Share& share, match::Graph& graph,
                             std::span<const std::int64_t> presync,
                             std::span<const NodeIndex> left) {
  const std::vector<bool> suspects = cycle_suspects(share.team, graph, presync, left);
  // The same at every member.
  if (!match::require_countable(size_between(share.team, graph, suspects), share.trace.path)) {
    return fail(ErrorKind::input,
                fmt::format("equal stamps in {} may close cycles of more events than can "
                            "be searched at once",
                            share.trace.path));
  }
  Gathering::Found found = Gathering(share.team, graph, suspects).search();
  found.tied = broadcast(share.team, found.tied);
  found.errors = broadcast(share.team, found.errors);
  Cycles result;
  Numbering number(share, graph);
  tie_components(found.tied, number, graph, result);
  result.dropped_components = found.errors.size();
  if (found.errors.empty()) return result;
  std::vector<TiedNodes> errors;
  for (const std::vector<Name>& component : found.errors) {
    TiedNodes& nodes = errors.emplace_back();
    for (const Name& name : component) {
      const NodeIndex n = number(name);
      if (n != k_none) nodes.nodes.push_back(n);
    }
  }
  result.dropped_edges = static_cast<std::uint64_t>(share.team.reduce(
      Team::Reduction::sum, static_cast<std::int64_t>(drop_inner_edges(graph, errors))));
  return result;
}

}  // namespace entrain::clc
