// SPDX-License-Identifier: BSD-3-Clause
#include "net/plan/joined_plan.hpp"

#include <algorithm>
#include <tuple>

namespace entrain::net {
namespace {

constexpr std::int64_t k_no_slot = -1;

/// The leader of a subtree, and the last message it sent.
struct Leader {
  InterfaceIndex interface = 0;
  std::int64_t hops = 0;  ///< links between it and the root of the subtree
  Femtoseconds delay{0};  ///< sum over those links that have a delay of their own
  std::int64_t last_slot = k_no_slot;
  InterfaceIndex last_destination = 0;

  /// True if this one is nearer to the root of the subtree, in links, then in time.
  [[nodiscard]] bool precedes(const Leader& other) const {
    return std::tie(hops, delay, interface) < std::tie(other.hops, other.delay, other.interface);
  }
};

bool precedes(const Leader& a, const Leader& b) { return a.precedes(b); }

class JoinedPlan {
 public:
  JoinedPlan(const SpanningTree& tree, Planner& planner, StepKind kind)
      : tree_(tree), planner_(planner), kind_(kind) {}

  void run() {
    std::vector<Leader> leaders;
    gather(tree_.root(), &leaders);
    distribute_below(tree_.root(), leaders);
  }

 private:
  /// The shifts of the slots after the home slot.
  [[nodiscard]] std::vector<std::int64_t> shifts(std::int64_t n) const {
    std::vector<std::int64_t> result;
    if (kind_ == StepKind::direct) {
      for (std::int64_t t = 1; t < n; ++t) result.push_back(bbp_destination(0, t, n));
    } else if (kind_ == StepKind::alternating) {
      for (std::int64_t t = 1; t < n; ++t) result.insert(result.end(), {t, 0});
    } else {
      for (std::int64_t step = 1; step < n; step *= 2) result.push_back((2 * step - 1) % n);
    }
    return result;
  }

  /// Runs the step of `leaders` in the slots after `home`, in which L_j sends to homes[j].
  void run_step(std::vector<Leader>& leaders, const std::vector<InterfaceIndex>& homes,
                std::int64_t home) {
    const auto n = static_cast<std::int64_t>(leaders.size());
    std::int64_t slot = home;
    for (const std::int64_t shift : shifts(n)) {
      ++slot;
      for (std::int64_t j = 0; j < n; ++j) {
        Leader& leader = leaders[static_cast<std::size_t>(j)];
        leader.last_destination = homes[static_cast<std::size_t>((j + shift) % n)];
        leader.last_slot = slot;
        planner_.add(slot, leader.interface, leader.last_destination);
      }
    }
  }

  /// Plans the steps inside the subtree of `node` and returns its leader. `step`, if not null, gets
  /// the leaders of its children as the step at `node` left them.
  Leader gather(NodeIndex node, std::vector<Leader>* step) {
    if (tree_.level(node) == 0) return Leader{.interface = planner_.interface_at(node)};
    std::vector<Leader> leaders;
    std::int64_t home = 0;
    for (const NodeIndex child : tree_.children(node)) {
      leaders.push_back(gather(child, nullptr));
      climb(leaders.back(), child);
      const Leader& leader = leaders.back();
      home = std::max(home, leader.last_slot + (may_join(leader) ? 0 : 1));
    }
    if (leaders.size() > 1) {
      std::vector<InterfaceIndex> homes;
      for (const Leader& leader : leaders) {
        const bool joins = leader.last_slot == home;
        homes.push_back(joins ? leader.last_destination : leader.interface);
        if (!joins) planner_.add(home, leader.interface, leader.interface);
      }
      run_step(leaders, homes, home);
    }
    const Leader nearest = *std::min_element(leaders.begin(), leaders.end(), precedes);
    if (step != nullptr) *step = std::move(leaders);
    return nearest;
  }

  /// True if the last message of the leader can serve in a home slot. A message that goes deeper
  /// into the tree than the leader itself would lengthen the routes of the next step.
  [[nodiscard]] bool may_join(const Leader& leader) const {
    return leader.last_slot == k_no_slot ||
           tree_.depth(planner_.node_of(leader.last_destination)) <=
               tree_.depth(planner_.node_of(leader.interface));
  }

  void distribute_below(NodeIndex node, const std::vector<Leader>& leaders) {
    for (std::size_t i = 0; i < leaders.size(); ++i)
      distribute(tree_.children(node)[i], leaders[i]);
  }

  [[nodiscard]] bool contains(NodeIndex node, InterfaceIndex interface) const {
    NodeIndex at = planner_.node_of(interface);
    while (tree_.depth(at) > tree_.depth(node)) at = tree_.parent(at);
    return at == node;
  }

  /// Counts the link from `node`, the root of the leader's subtree, to its parent.
  void climb(Leader& leader, NodeIndex node) const {
    ++leader.hops;
    leader.delay += planner_.delay_above(node);
  }

  /// The leader of a subtree in which nothing is left to gather.
  [[nodiscard]] Leader representative(NodeIndex node) const {
    if (tree_.level(node) == 0) return Leader{.interface = planner_.interface_at(node)};
    std::vector<Leader> leaders;
    for (const NodeIndex child : tree_.children(node)) {
      leaders.push_back(representative(child));
      climb(leaders.back(), child);
    }
    return *std::min_element(leaders.begin(), leaders.end(), precedes);
  }

  /// Plans the steps that spread the slowest time in the subtree of `node`. `informed` leads the
  /// subtree and keeps the slowest time after its last message.
  void distribute(NodeIndex node, const Leader& informed) {
    if (tree_.level(node) == 0) return;
    const auto& children = tree_.children(node);
    std::vector<Leader> leaders;
    for (const NodeIndex child : children) {
      const bool leads = contains(child, informed.interface);
      leaders.push_back(leads ? informed : representative(child));
    }
    if (leaders.size() > 1) {
      const bool joins = contains(node, informed.last_destination) && may_join(informed);
      const std::int64_t home = informed.last_slot + (joins ? 0 : 1);
      const std::vector<InterfaceIndex> homes = choose_homes(children, leaders, informed, joins);
      for (std::size_t j = 0; j < leaders.size(); ++j) {
        if (!joins || leaders[j].interface != informed.interface)
          planner_.add(home, leaders[j].interface, homes[j]);
      }
      run_step(leaders, homes, home);
    }
    distribute_below(node, leaders);
  }

  /// Returns a destination in each child's subtree. If the informed leader joins, its destination
  /// is the one it sends to anyway; the leader of that subtree gets the informed leader's instead.
  [[nodiscard]] std::vector<InterfaceIndex> choose_homes(const std::vector<NodeIndex>& children,
                                                         const std::vector<Leader>& leaders,
                                                         const Leader& informed, bool joins) const {
    std::vector<InterfaceIndex> homes;
    for (const Leader& leader : leaders) homes.push_back(leader.interface);
    if (!joins) return homes;
    std::size_t own = 0, taken = 0;
    for (std::size_t j = 0; j < children.size(); ++j) {
      if (leaders[j].interface == informed.interface) own = j;
      if (contains(children[j], informed.last_destination)) taken = j;
    }
    homes[taken] = informed.interface;
    homes[own] = informed.last_destination;
    return homes;
  }

  const SpanningTree& tree_;
  Planner& planner_;
  StepKind kind_;
};

}  // namespace

void plan_joined(const SpanningTree& tree, Planner& planner, StepKind kind) {
  JoinedPlan(tree, planner, kind).run();
}

}  // namespace entrain::net
