// SPDX-License-Identifier: BSD-3-Clause
#include "clc/team_pass.hpp"

#include <algorithm>
#include <bit>

namespace entrain::clc {

template class ForwardSteps<TeamPass>;

namespace {

constexpr std::uint32_t k_poll = 1 << 14;  // steps between two looks whether the user wants to stop

}  // namespace

StepLinks::StepLinks(const match::Graph& graph, const Cycles& cycles, const Schedule& schedule)
    : step_of_node(graph.own_count(), k_none) {
  for (std::uint32_t s = 0; s < schedule.size(); ++s) {
    const Step& step = schedule[s];
    switch (step.kind) {
      case Step::Kind::run:
        for (NodeIndex n = step.begin; n < step.end; ++n) step_of_node[n] = s;
        break;
      case Step::Kind::exchange:
        break;
      case Step::Kind::tied:
        for (const NodeIndex n : cycles.tied[step.index].nodes) step_of_node[n] = s;
        break;
    }
  }
  steps_of_exchange = NodeLists(graph.exchanges.size(), [&](auto body) {
    for (std::uint32_t s = 0; s < schedule.size(); ++s) {
      if (schedule[s].kind == Step::Kind::exchange) body(schedule[s].index, s);
    }
  });
}

TeamPass::TeamPass(const ForwardProblem& problem, const Incidence& incidence,
                   const Schedule& schedule)
    : ForwardSteps(problem, incidence),
      schedule_(schedule),
      cancel_(problem.cancel),
      out_edges_(out_edges(graph_)),
      links_(graph_, cycles_, schedule),
      dirty_(schedule.size() / 64 + 1, 0),
      ghost_changed_(graph_.halo.ghosts.size(), false) {
  std::size_t entries = 0;
  for (const std::vector<NodeIndex>& nodes : graph_.halo.shown_to) entries += nodes.size();
  remote_demand_.resize(entries);
  shown_of_node_ = NodeLists(graph_.own_count(), [&](auto body) {
    std::uint32_t s = 0;
    for (const std::vector<NodeIndex>& nodes : graph_.halo.shown_to) {
      for (const NodeIndex n : nodes) body(n, s++);
    }
  });
}

void TeamPass::reset(Decimal9 gamma) {
  start(gamma);
  frontier_ = 0;
  decay_before_.assign(schedule_.size(), {});
  const bool any_ordered = std::any_of(graph_.exchanges.begin(), graph_.exchanges.end(),
                                       [](const match::Exchange& x) { return x.ordered; });
  prefix_before_.assign(any_ordered ? schedule_.size() : 0, {});
  std::copy(presync_.begin() + static_cast<std::ptrdiff_t>(graph_.own_count()), presync_.end(),
            result_.times.begin() + static_cast<std::ptrdiff_t>(graph_.own_count()));
  std::fill(remote_demand_.begin(), remote_demand_.end(), match::k_no_demand);
  proposals_.clear();
  for (const TiedNodes& component : cycles_.tied) {
    proposals_.push_back(
        {.of_peer = std::vector<std::int64_t>(component.peers.size(), match::k_no_demand)});
  }
  changed_nodes_.clear();
  changed_ghosts_.clear();
  std::fill(ghost_changed_.begin(), ghost_changed_.end(), false);
  std::fill(dirty_.begin(), dirty_.end(), 0);
}

void TeamPass::begin(Decimal9 gamma) {
  reset(gamma);
  first_sweep_ = true;
  for (std::uint32_t s = 0; s < schedule_.size(); ++s) {
    if (s % k_poll == 0 && cancel_.asked()) break;
    evaluate_step(s);
  }
  first_sweep_ = false;
  for (NodeIndex n = 0; n < graph_.own_count(); ++n) {
    if (shown_of_node_.has(n) && time(n) != presync_[n]) changed_nodes_.push_back(n);
  }
}

void TeamPass::update() {
  for (std::size_t w = 0; w < dirty_.size(); ++w) {
    if (w % (k_poll / 64) == 0 && cancel_.asked()) return;
    while (dirty_[w] != 0) {
      const int bit = std::countr_zero(dirty_[w]);
      dirty_[w] &= ~(std::uint64_t{1} << bit);
      evaluate_step(static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(bit));
    }
  }
}

void TeamPass::evaluate_step(std::uint32_t step) {
  step_ = step;
  evaluate(schedule_[step]);
  frontier_ = std::max(frontier_, step + 1);
}

void TeamPass::set_ghost(NodeIndex ghost, std::int64_t time) {
  result_.times[ghost] = time;
  mark_dependents(ghost, k_none);
}

void TeamPass::set_remote_demand(std::uint32_t shown, NodeIndex node, std::int64_t demand) {
  remote_demand_[shown] = demand;
  mark(links_.step_of_node[node]);
}

void TeamPass::set_proposal(std::uint32_t component, std::uint32_t rank, std::int64_t time) {
  const TiedNodes& tied = cycles_.tied[component];
  for (std::size_t p = 0; p < tied.peers.size(); ++p) {
    if (tied.peers[p] == rank) proposals_[component].of_peer[p] = time;
  }
  if (!tied.nodes.empty()) mark(links_.step_of_node[tied.nodes[0]]);
}

std::int64_t TeamPass::demand_on_ghost(NodeIndex ghost) {
  const std::uint32_t component = cycles_.component_of(ghost);
  if (component != k_none) return demand_from_outside(ghost, component);
  std::int64_t demand = match::k_no_demand;
  for (const std::uint32_t m : incidence_.receives.of(ghost)) demand = std::max(demand, demand_[m]);
  return demand;
}

std::vector<NodeIndex> TeamPass::take_changed_ghosts() {
  for (const NodeIndex ghost : changed_ghosts_) ghost_changed_[ghost - graph_.own_count()] = false;
  return std::exchange(changed_ghosts_, {});
}

void TeamPass::enter_nodes(LocationIndex location) {
  if (again()) decay_[location] = decay_before_[step_];
  decay_before_[step_] = decay_[location];
}

/// Hands the state after node `last` to the step that goes on from there.
void TeamPass::leave_nodes(LocationIndex location, NodeIndex last, bool last_changed) {
  if (last + 1 == graph_.first_node[location + 1]) return;
  const std::uint32_t next = links_.step_of_node[last + 1];
  if (next >= frontier_) return;  // not begun yet: it will find the state in decay_
  Decay* before = &decay_before_[next];
  if (schedule_[next].kind == Step::Kind::tied) {
    before = tied_before_.insert(last + 1, decay_[location]).first;
  }
  if (*before == decay_[location] && !(problem_.delta_of(location) > 0 && last_changed)) return;
  *before = decay_[location];
  mark(next);
}

void TeamPass::enter_tied(const TiedNodes& component) {
  LocationIndex previous = k_none;
  for (const NodeIndex n : component.nodes) {
    const LocationIndex location = graph_.location_of(n);
    if (std::exchange(previous, location) == location) continue;
    Decay* before = tied_before_.insert(n, decay_[location]).first;
    if (again()) {
      decay_[location] = *before;
    } else {
      *before = decay_[location];
    }
  }
}

void TeamPass::enter_ordered(std::uint32_t exchange) {
  if (again()) prefix_[exchange] = prefix_before_[step_];
  prefix_before_[step_] = prefix_[exchange];
}

void TeamPass::leave_ordered(std::uint32_t exchange) {
  const auto steps = links_.steps_of_exchange.of(exchange);
  const auto next = std::upper_bound(steps.begin(), steps.end(), step_);
  if (next == steps.end() || *next >= frontier_ || prefix_before_[*next] == prefix_[exchange])
    return;
  prefix_before_[*next] = prefix_[exchange];
  mark(*next);
}

void TeamPass::time_changed(NodeIndex node) {
  if (first_sweep_) return;
  if (shown_of_node_.has(node)) changed_nodes_.push_back(node);
  mark_dependents(node, step_);
}

void TeamPass::demand_changed(std::uint32_t participant) {
  const NodeIndex node = graph_.participants[participant].node;
  if (graph_.is_ghost(node)) return note_ghost(node);
  const bool tied = cycles_.component_of(node) != k_none;
  if (!first_sweep_ && !tied) mark(links_.step_of_node[node]);
}

std::int64_t TeamPass::remote_demand(NodeIndex node) const {
  std::int64_t demand = match::k_no_demand;
  for (const std::uint32_t s : shown_of_node_.of(node)) {
    demand = std::max(demand, remote_demand_[s]);
  }
  return demand;
}

std::int64_t TeamPass::common_time(std::uint32_t component, std::int64_t own) {
  Proposal& proposal = proposals_[component];
  proposal.own = own;
  for (const std::int64_t other : proposal.of_peer) own = std::max(own, other);
  return own;
}

/// Marks the steps after step `after` that look at the time of `node`; with a ghost, all of them.
void TeamPass::mark_dependents(NodeIndex node, std::uint32_t after) {
  for (const std::uint32_t e : out_edges_.of(node)) {
    const std::uint32_t step = links_.step_of_node[graph_.edges[e].receive];
    if (step != after) mark(step);  // a tied component looks at none of its own
  }
  for (const std::uint32_t m : incidence_.sends.of(node)) {
    const std::uint32_t x = incidence_.exchange_of[m];
    for (const std::uint32_t step : links_.steps_of_exchange.of(x)) {
      if (graph_.is_ghost(node) || step > after) mark(step);
    }
    if (!cycles_.tied_of.empty()) mark_tied_receivers(x, graph_.is_ghost(node) ? 0 : after + 1);
  }
}

/// Tied nodes look at the senders of an exchange themselves.
void TeamPass::mark_tied_receivers(std::uint32_t exchange, std::uint32_t first_step) {
  for (const match::Participant& receive : graph_.receives(graph_.exchanges[exchange])) {
    if (cycles_.component_of(receive.node) == k_none) continue;
    if (graph_.is_ghost(receive.node)) {
      note_ghost(receive.node);
    } else if (links_.step_of_node[receive.node] >= first_step) {
      mark(links_.step_of_node[receive.node]);
    }
  }
}

void TeamPass::note_ghost(NodeIndex ghost) {
  const std::size_t g = ghost - graph_.own_count();
  if (ghost_changed_[g]) return;
  ghost_changed_[g] = true;
  changed_ghosts_.push_back(ghost);
}

}  // namespace entrain::clc
