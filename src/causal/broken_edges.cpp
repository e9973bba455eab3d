// SPDX-License-Identifier: BSD-3-Clause
#include "causal/broken_edges.hpp"

#include <algorithm>
#include <tuple>

#include "match/extremes.hpp"
#include "match/parts.hpp"

namespace entrain::causal {

/// Turns exchanges into instances of one delay each: O(members log members) of them at most.
class BrokenEdges::Expansion {
 public:
  Expansion(const BrokenEdges& broken, std::vector<Member>& members)
      : broken_(broken),
        graph_(broken.context_.graph),
        mu_(broken.context_.mu),
        members_(members) {}

  void add(const match::Exchange& exchange) {
    const Participants begins = graph_.sends(exchange), ends = graph_.receives(exchange);
    if (exchange.ordered) return add_ordered(begins, ends);
    add_all(begins, ends);
  }

 private:
  using Participants = std::span<const match::Participant>;
  struct Halves {
    Participants low, high;
  };

  /// Cuts members, whose keys increase, behind the last one whose key is at most `middle`.
  template <class Key>
  static Halves cut(Participants all, std::uint32_t middle, Key key) {
    const auto high = std::partition_point(
        all.begin(), all.end(), [&](const auto& member) { return key(member) <= middle; });
    const auto low = static_cast<std::size_t>(high - all.begin());
    return {all.first(low), all.subspan(low)};
  }

  /// Every begin precedes the ends of higher ranks: the lower half of the ranks precedes the upper
  /// one, and inside of both halves it is the same again.
  void add_ordered(Participants begins, Participants ends) {
    if (begins.empty() || ends.empty()) return;
    const auto order = [](const match::Participant& member) { return member.order; };
    const std::uint32_t low = std::min(begins.front().order, ends.front().order);
    const std::uint32_t high = std::max(begins.back().order, ends.back().order);
    if (low == high) return;
    const Halves from = cut(begins, low + (high - low) / 2, order);
    const Halves to = cut(ends, low + (high - low) / 2, order);
    add_all(from.low, to.high);
    add_ordered(from.low, to.low);
    add_ordered(from.high, to.high);
  }

  /// Every begin precedes every end of another location.
  void add_all(Participants begins, Participants ends) {
    if (match::Extremes::is_uniform(mu_)) return put(begins, ends, 0);
    const auto from = by_place(begins), to = by_place(ends);
    add_apart(from, to, k_machine);
  }

  /// Machines are cut into halves, and what is inside of one machine by processes.
  void add_apart(Participants begins, Participants ends, std::size_t level) {
    if (begins.empty() || ends.empty()) return;
    const auto key = [&](const match::Participant& member) { return key_of(member, level); };
    const std::uint32_t low = std::min(key(begins.front()), key(ends.front()));
    const std::uint32_t high = std::max(key(begins.back()), key(ends.back()));
    if (low == high) {
      if (level > 0) add_apart(begins, ends, level - 1);
      return;
    }
    const Halves from = cut(begins, low + (high - low) / 2, key);
    const Halves to = cut(ends, low + (high - low) / 2, key);
    put(from.low, to.high, level);
    put(from.high, to.low, level);
    add_apart(from.low, to.low, level);
    add_apart(from.high, to.high, level);
  }

  static constexpr std::size_t k_machine = 2;  ///< latency class of different machines

  /// Location, process or machine: equal for two members whose latency class is below that level.
  [[nodiscard]] std::uint32_t key_of(const match::Participant& member, std::size_t level) const {
    if (level == k_machine) return graph_.node_of[member.location];
    return level == 0 ? member.location : graph_.process_of[member.location];
  }

  [[nodiscard]] std::vector<match::Participant> by_place(Participants members) const {
    std::vector<match::Participant> sorted(members.begin(), members.end());
    const auto place = [&](const match::Participant& member) {
      return std::tuple(key_of(member, 2), key_of(member, 1), key_of(member, 0), member.node);
    };
    std::sort(sorted.begin(), sorted.end(),
              [&](const auto& a, const auto& b) { return place(a) < place(b); });
    return sorted;
  }

  void put(Participants begins, Participants ends, std::size_t latency_class) {
    if (begins.empty() || ends.empty()) return;
    for (const Participants side : {begins, ends}) {
      for (const match::Participant& member : side) {
        members_.push_back({broken_.event_of(member.node, member.location),
                            std::max(mu_[latency_class], broken_.least_),
                            static_cast<std::uint32_t>(begins.size()),
                            static_cast<std::uint32_t>(ends.size())});
      }
    }
  }

  const BrokenEdges& broken_;
  const match::Graph& graph_;
  const MuTicks& mu_;
  std::vector<Member>& members_;
};

BrokenEdges::BrokenEdges(const constraints::Context& context, const trace::ClockDomains& domains,
                         std::uint64_t base, std::int64_t least)
    : context_(context),
      domains_(domains),
      base_(base),
      least_(least),
      has_edge_(context.graph.edges.size(), 0),
      has_exchange_(context.graph.exchanges.size(), 0) {
  if (context.team().size() == 1) return;
  constraints::evaluate_nodes(context, times_, [](LocationIndex) {
    return [](std::uint64_t stamp) { return static_cast<std::int64_t>(stamp); };
  });
  const auto own = static_cast<std::ptrdiff_t>(context.graph.own_count());
  ghost_stamps_.assign(times_.begin() + own, times_.end());
}

difference::Event BrokenEdges::event_of(NodeIndex node, LocationIndex location) const {
  const match::Graph& graph = context_.graph;
  const std::uint64_t stamp =
      graph.is_ghost(node) ? static_cast<std::uint64_t>(ghost_stamps_[node - graph.own_count()])
                           : graph.stamp[node];
  return {domains_.of[location], static_cast<std::int64_t>(stamp - base_)};
}

bool BrokenEdges::add(std::span<const ClockMap> maps, std::int64_t margin) {
  constexpr std::uint8_t k_found = 1, k_taken = 2;
  const match::Graph& graph = context_.graph;
  constraints::evaluate_nodes(
      context_, times_, [&](LocationIndex l) { return ClockMap::Cursor(maps[domains_.of[l]]); });
  match::for_parts(
      match::parts_of(graph, context_.threads), [&](const match::Part& part, std::size_t) {
        for (const match::Edge& edge : part.edges) {
          const std::int64_t slack =
              times_[edge.receive] - times_[edge.send] - graph.mu_of(edge, context_.mu);
          std::uint8_t& taken = has_edge_[static_cast<std::size_t>(&edge - graph.edges.data())];
          if (slack < margin && taken == 0) taken = k_found;
        }
        match::for_demands(
            graph, part.exchanges, context_.mu, times_,
            [&](const match::Exchange& exchange, const match::Participant& receive,
                std::int64_t demand) {
              std::uint8_t& taken =
                  has_exchange_[static_cast<std::size_t>(&exchange - graph.exchanges.data())];
              if (times_[receive.node] - margin < demand && taken == 0) taken = k_found;
            });
      });
  std::vector<difference::Edge> own_edges;
  for (std::size_t i = 0; i < has_edge_.size(); ++i) {
    if (has_edge_[i] != k_found) continue;
    has_edge_[i] = k_taken;
    const match::Edge& edge = graph.edges[i];
    const difference::Event cause = event_of(edge.send, graph.location_of(edge.send));
    const difference::Event effect = event_of(edge.receive, graph.location_of(edge.receive));
    if (cause.clock == effect.clock) continue;
    own_edges.push_back({cause, effect, std::max(graph.mu_of(edge, context_.mu), least_)});
  }
  std::vector<Member> own_members;
  Expansion expansion(*this, own_members);
  for (std::size_t i = 0; i < has_exchange_.size(); ++i) {
    if (has_exchange_[i] != k_found) continue;
    has_exchange_[i] = k_taken;
    expansion.add(graph.exchanges[i]);
  }
  const std::vector<difference::Edge> edges = gather_everywhere(context_.team(), own_edges);
  const std::vector<Member> members = gather_everywhere(context_.team(), own_members);
  edges_.insert(edges_.end(), edges.begin(), edges.end());
  members_.insert(members_.end(), members.begin(), members.end());
  for (const Member& member : members) events_.push_back(member.event);
  return !edges.empty() || !members.empty();
}

std::vector<difference::Instance> BrokenEdges::instances(
    std::span<const difference::Event> events) const {
  std::vector<difference::Instance> instances;
  for (std::size_t i = 0; i < members_.size(); i += members_[i].begins + members_[i].ends) {
    const auto all = events.subspan(i, members_[i].begins + members_[i].ends);
    instances.push_back({.begins = all.first(members_[i].begins),
                         .ends = all.subspan(members_[i].begins),
                         .delay = members_[i].delay});
  }
  return instances;
}

}  // namespace entrain::causal
