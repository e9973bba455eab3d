// SPDX-License-Identifier: BSD-3-Clause
#include "clc/relays.hpp"

#include <utility>

namespace entrain::clc {

namespace {

/// The participants of an exchange at one member.
struct Group {
  std::uint32_t rank = 0;
  std::uint32_t relay = 0;  ///< number of its relay, as the member has it
  /// The node at this member, else its place in the halo.
  std::vector<std::uint32_t> begins{}, ends{};
};

/// Appends the description of the relay of one of the groups.
void describe(std::span<const Group> groups, std::size_t own,
              std::vector<std::uint32_t>& description) {
  const auto add_nodes = [&](const std::vector<std::uint32_t>& nodes) {
    description.push_back(static_cast<std::uint32_t>(nodes.size()));
    description.insert(description.end(), nodes.begin(), nodes.end());
  };
  add_nodes(groups[own].begins);
  add_nodes(groups[own].ends);
  description.push_back(static_cast<std::uint32_t>(groups.size()));
  for (std::size_t stride = 1; stride < groups.size(); stride *= Relays::k_fanout + 1) {
    for (std::size_t step = 1; step <= Relays::k_fanout && step * stride < groups.size(); ++step) {
      const Group& other = groups[(own + step * stride) % groups.size()];
      description.insert(description.end(), {other.rank, other.relay});
    }
  }
}

/// The exchanges of a home, and the members that take part in each.
class Planner {
 public:
  Planner(Team& team, const match::Graph& graph, const Cycles& cycles, const GhostPlaces& ghosts)
      : team_(team),
        graph_(graph),
        cycles_(cycles),
        ghosts_(ghosts),
        last_begin_(graph.location_count(), k_none),
        group_of_(team.size(), k_none) {}

  /// Per exchange: relays do it.
  [[nodiscard]] std::vector<bool> choose() {
    std::vector<bool> relayed(graph_.exchanges.size());
    for (std::size_t x = 0; x < relayed.size(); ++x) relayed[x] = is_fit(graph_.exchanges[x]);
    return relayed;
  }

  /// Returns the description of the relays in `relayed` for each member. Collective.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> plan_all(const std::vector<bool>& relayed) {
    std::vector<std::vector<std::uint32_t>> count(team_.size(), {0});
    for_relayed(relayed, [&](const std::vector<Group>& groups) {
      for (const Group& group : groups) ++count[group.rank][0];
    });
    std::vector<std::uint32_t> next = first_numbers(std::move(count));
    std::vector<std::vector<std::uint32_t>> descriptions(team_.size());
    for_relayed(relayed, [&](std::vector<Group>& groups) {
      for (Group& group : groups) group.relay = next[group.rank]++;
      for (std::size_t g = 0; g < groups.size(); ++g) {
        describe(groups, g, descriptions[groups[g].rank]);
      }
    });
    return descriptions;
  }

 private:
  /// Whether relays can do an exchange, and it concerns other members.
  [[nodiscard]] bool is_fit(const match::Exchange& exchange) {
    if (exchange.ordered || exchange.send_count == 0 || exchange.receive_count == 0) return false;
    bool fit = true, elsewhere = false;
    const auto look_at = [&](const match::Participant& participant) {
      fit = fit && cycles_.component_of(participant.node) == k_none;
      elsewhere = elsewhere || graph_.is_ghost(participant.node);
    };
    for (const match::Participant& send : graph_.sends(exchange)) {
      look_at(send);
      NodeIndex& last = last_begin_[send.location];
      const NodeIndex node = as_its_owner_counts(send.node);
      last = last == k_none ? node : std::max(last, node);
    }
    // An end that is its own begin's node would wait for itself.
    for (const match::Participant& receive : graph_.receives(exchange)) {
      look_at(receive);
      const NodeIndex begin = last_begin_[receive.location];
      fit = fit && (begin == k_none || begin < as_its_owner_counts(receive.node));
    }
    for (const match::Participant& send : graph_.sends(exchange)) {
      last_begin_[send.location] = k_none;
    }
    return fit && elsewhere;
  }

  [[nodiscard]] NodeIndex as_its_owner_counts(NodeIndex node) const {
    return graph_.is_ghost(node) ? graph_.halo.ghosts[node - graph_.own_count()].node : node;
  }

  /// Calls body(groups) for every relayed exchange, with its participants.
  template <class Body>
  void for_relayed(const std::vector<bool>& relayed, Body body) {
    for (std::size_t x = 0; x < relayed.size(); ++x) {
      if (!relayed[x]) continue;
      std::vector<Group> groups = groups_of(graph_.exchanges[x]);
      body(groups);
    }
  }
  std::vector<Group> groups_of(const match::Exchange& exchange) {
    std::vector<Group> groups;
    const auto add = [&](const match::Participant& p, std::vector<std::uint32_t> Group::*side) {
      const auto [rank, index] =
          graph_.is_ghost(p.node) ? ghosts_.of(p.node) : HaloPlace{team_.rank(), p.node};
      if (group_of_[rank] == k_none) {
        group_of_[rank] = static_cast<std::uint32_t>(groups.size());
        groups.push_back({.rank = rank});
      }
      (groups[group_of_[rank]].*side).push_back(index);
    };
    for (const match::Participant& send : graph_.sends(exchange)) add(send, &Group::begins);
    for (const match::Participant& receive : graph_.receives(exchange)) add(receive, &Group::ends);
    for (const Group& group : groups) group_of_[group.rank] = k_none;
    std::ranges::sort(groups, {}, &Group::rank);
    return groups;
  }

  /// Per member: the number of its first relay for this home, given how many that one has for it.
  /// Members number the relays of one home after those of the other. Collective.
  [[nodiscard]] std::vector<std::uint32_t> first_numbers(
      std::vector<std::vector<std::uint32_t>> count) {
    std::vector<std::vector<std::uint32_t>> numbers = exchange(team_, std::move(count));
    std::uint32_t first = 0;
    for (std::vector<std::uint32_t>& of_home : numbers) {
      of_home[0] = std::exchange(first, first + of_home[0]);
    }
    numbers = exchange(team_, std::move(numbers));
    std::vector<std::uint32_t> result;
    for (const std::vector<std::uint32_t>& of_member : numbers) result.push_back(of_member[0]);
    return result;
  }

  Team& team_;
  const match::Graph& graph_;
  const Cycles& cycles_;
  const GhostPlaces& ghosts_;
  std::vector<NodeIndex> last_begin_;    ///< each location's last begin in the exchange in work
  std::vector<std::uint32_t> group_of_;  ///< index of each rank's group in the exchange in work
};

}  // namespace

Relays::Relays(Team& team, const match::Graph& graph, const Cycles& cycles,
               const GhostPlaces& ghosts, bool uniform) {
  if (!uniform) return;  // at every member
  Planner planner(team, graph, cycles, ghosts);
  relayed_ = planner.choose();
  const auto descriptions = exchange(team, planner.plan_all(relayed_));
  for (std::uint32_t home = 0; home < descriptions.size(); ++home) {
    take_in(graph, home, home == team.rank(), descriptions[home]);
  }
  begun_by_ = NodeLists(graph.own_count(), [&](auto body) {
    for (const auto& [node, relay] : begins_) body(node, relay);
  });
  begins_ = {};
  any_ = team.any(!relays_.empty());
}

/// Adds the relays for a home. Other homes than this member name nodes by their place in the halo.
void Relays::take_in(const match::Graph& graph, std::uint32_t home, bool own,
                     std::span<const std::uint32_t> description) {
  std::size_t at = 0;
  const auto next = [&] { return description[at++]; };
  const auto next_node = [&] { return own ? next() : graph.halo.shown_to[home][next()]; };
  while (at < description.size()) {
    const auto number = static_cast<std::uint32_t>(relays_.size());
    Relay relay{.begins = next(), .first_end = static_cast<std::uint32_t>(ends_.size())};
    for (std::uint32_t i = 0; i < relay.begins; ++i) begins_.push_back({next_node(), number});
    relay.end_count = next();
    for (std::uint32_t i = 0; i < relay.end_count; ++i) ends_.push_back(next_node());
    relay.members = next();
    relay.first_target = static_cast<std::uint32_t>(targets_.size());
    for (std::uint32_t stride = 1; stride < relay.members; stride *= k_fanout + 1) {
      for (std::uint32_t t = std::min(k_fanout, (relay.members - 1) / stride); t > 0; --t) {
        const std::uint32_t rank = next(), relay_there = next();
        targets_.push_back({rank, relay_there});
      }
    }
    relays_.push_back(relay);
  }
}

}  // namespace entrain::clc
