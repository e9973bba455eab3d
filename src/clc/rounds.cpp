// SPDX-License-Identifier: BSD-3-Clause
#include "clc/rounds.hpp"

#include <algorithm>
#include <bit>

namespace entrain::clc {

namespace {

constexpr std::uint32_t k_poll = 1 << 14;  // steps between two looks whether the user wants to stop

}  // namespace

ForwardRounds::ForwardRounds(Team& team, const match::Graph& graph, const Incidence& incidence,
                             const Schedule& schedule, std::span<const std::int64_t> presync,
                             const MuTicks& mu, std::int64_t delta)
    : team_(team),
      graph_(graph),
      incidence_(incidence),
      schedule_(schedule),
      presync_(presync),
      out_edges_(out_edges(graph)),
      links_(graph, schedule),
      pass_(graph, incidence, schedule, presync, mu, delta),
      ghosts_(graph.halo.ghosts.size()),
      dirty_(schedule.steps.size() / 64 + 1, 0) {
  for (std::uint32_t r = 0; r < team.size(); ++r) {
    for (std::uint32_t i = 0; i < graph.halo.shown_to[r].size(); ++i) {
      shown_.push_back({r, i});
    }
  }
  shown_of_node_ = NodeLists(graph.own_count(), [&](auto body) {
    std::uint32_t s = 0;
    for (const std::vector<NodeIndex>& nodes : graph.halo.shown_to) {
      for (const NodeIndex n : nodes) body(n, s++);
    }
  });
  for (std::uint32_t r = 0; r < team.size(); ++r) {
    for (std::uint32_t i = 0; i < graph.halo.ghosts_of[r].size(); ++i) {
      const NodeIndex n = graph.halo.ghosts_of[r][i];
      ghosts_[n - graph.own_count()] = {r, i, presync[n], match::k_no_demand, false};
    }
  }
}

std::optional<Forward> ForwardRounds::run(Decimal9 gamma, std::uint64_t most_rounds,
                                          const Progress* progress) {
  progress_ = progress;
  begin(gamma);
  for (std::uint64_t round = 0;; ++round) {
    const Talk talked = talk();
    if (talked == Talk::no_news) break;
    if (talked == Talk::stopped || (most_rounds != 0 && round >= most_rounds)) return std::nullopt;
    sweep();
  }
  Forward result = pass_.finish();
  agree_on_counts(team_, result);
  return result;
}

void ForwardRounds::begin(Decimal9 gamma) {
  pass_.begin(gamma, links_, *this);
  for (std::size_t g = 0; g < ghosts_.size(); ++g) {
    ghosts_[g].sent = match::k_no_demand;
    ghosts_[g].changed = false;
    pass_.set_ghost(static_cast<NodeIndex>(graph_.own_count() + g), ghosts_[g].presync);
  }
  for (std::uint32_t r = 0, s = 0; r < team_.size(); ++r) {
    for (const NodeIndex n : graph_.halo.shown_to[r]) {
      shown_[s].sent = presync_[n];
      shown_[s++].demand = match::k_no_demand;
    }
  }
  proposals_.clear();
  for (const TiedNodes& component : schedule_.tied) {
    proposals_.push_back({match::k_no_demand, match::k_no_demand,
                          std::vector<std::int64_t>(component.peers.size(), match::k_no_demand)});
  }
  changed_nodes_.clear();
  changed_ghosts_.clear();
  std::fill(dirty_.begin(), dirty_.end(), 0);
  first_sweep_ = true;
  for (std::uint32_t s = 0; s < schedule_.steps.size(); ++s) {
    if (s % k_poll == 0 && stopped()) break;
    pass_.evaluate_again(s);
  }
  first_sweep_ = false;
  for (NodeIndex n = 0; n < graph_.own_count(); ++n) {
    if (shown_of_node_.has(n) && pass_.time(n) != presync_[n]) changed_nodes_.push_back(n);
  }
}

void ForwardRounds::sweep() {
  for (std::size_t w = 0; w < dirty_.size(); ++w) {
    if (w % (k_poll / 64) == 0 && stopped()) return;
    while (dirty_[w] != 0) {
      const int bit = std::countr_zero(dirty_[w]);
      dirty_[w] &= ~(std::uint64_t{1} << bit);
      step_ = static_cast<std::uint32_t>(w * 64) + static_cast<std::uint32_t>(bit);
      pass_.evaluate_again(step_);
    }
  }
}

void ForwardRounds::mark(std::uint32_t step) { dirty_[step / 64] |= std::uint64_t{1} << step % 64; }

void ForwardRounds::time_changed(NodeIndex node) {
  if (first_sweep_) return;
  if (shown_of_node_.has(node)) changed_nodes_.push_back(node);
  mark_dependents(node, step_);
}

/// Marks the steps behind `behind` that look at the time of `node`.
void ForwardRounds::mark_dependents(NodeIndex node, std::uint32_t behind) {
  for (const std::uint32_t e : out_edges_.of(node)) {
    const std::uint32_t step = links_.step_of_node[graph_.edges[e].receive];
    if (step != behind) mark(step);  // a tied component looks at none of its own
  }
  for (const std::uint32_t m : incidence_.sends.of(node)) {
    const std::uint32_t x = incidence_.exchange_of[m];
    const auto steps = links_.steps_of_exchange.of(x);
    for (const std::uint32_t step : steps) {
      if (graph_.is_ghost(node) || step > behind) mark(step);
    }
    if (!schedule_.tied_of.empty()) mark_tied_receivers(x, graph_.is_ghost(node) ? 0 : behind + 1);
  }
}

/// Tied nodes look at the senders of an exchange themselves.
void ForwardRounds::mark_tied_receivers(std::uint32_t exchange, std::uint32_t first_step) {
  for (const match::Participant& receive : graph_.receives(graph_.exchanges[exchange])) {
    if (schedule_.tied_of[receive.node] == k_none) continue;
    if (graph_.is_ghost(receive.node)) {
      note_ghost(receive.node);
    } else if (links_.step_of_node[receive.node] >= first_step) {
      mark(links_.step_of_node[receive.node]);
    }
  }
}

void ForwardRounds::demand_changed(std::uint32_t member) {
  const NodeIndex node = graph_.participants[member].node;
  if (graph_.is_ghost(node)) return note_ghost(node);
  const bool tied = !schedule_.tied_of.empty() && schedule_.tied_of[node] != k_none;
  if (!first_sweep_ && !tied) mark(links_.step_of_node[node]);
}

void ForwardRounds::note_ghost(NodeIndex ghost) {
  const auto g = static_cast<std::uint32_t>(ghost - graph_.own_count());
  if (ghosts_[g].changed) return;
  ghosts_[g].changed = true;
  changed_ghosts_.push_back(g);
}

std::int64_t ForwardRounds::remote_demand(NodeIndex node) const {
  std::int64_t demand = match::k_no_demand;
  if (!shown_of_node_.has(node)) return demand;
  for (const std::uint32_t s : shown_of_node_.of(node)) demand = std::max(demand, shown_[s].demand);
  return demand;
}

std::int64_t ForwardRounds::common_time(std::uint32_t component, std::int64_t own) {
  Proposal& proposal = proposals_[component];
  proposal.own = own;
  for (const std::int64_t other : proposal.of_peer) own = std::max(own, other);
  return own;
}

ForwardRounds::Talk ForwardRounds::talk() {
  std::vector<std::vector<Update>> parcels(team_.size());
  collect_times(parcels);
  collect_demands(parcels);
  collect_proposals(parcels);
  const bool news =
      std::any_of(parcels.begin(), parcels.end(), [](const auto& p) { return !p.empty(); });
  const Talk own = stopped() ? Talk::stopped : news ? Talk::news : Talk::no_news;
  const auto all =
      static_cast<Talk>(team_.reduce(Team::Reduction::max, static_cast<std::int64_t>(own)));
  if (all != Talk::news) return all;
  parcels = exchange(team_, std::move(parcels));
  for (std::uint32_t r = 0; r < parcels.size(); ++r) {
    for (const Update& update : parcels[r]) hear(r, update);
  }
  return Talk::news;
}

void ForwardRounds::collect_times(std::vector<std::vector<Update>>& parcels) {
  for (const NodeIndex n : changed_nodes_) {
    const std::int64_t time = pass_.time(n);
    for (const std::uint32_t s : shown_of_node_.of(n)) {
      Shown& shown = shown_[s];
      if (shown.sent == time) continue;
      shown.sent = time;
      parcels[shown.rank].push_back({About::time, shown.index, time});
    }
  }
  changed_nodes_.clear();
}

void ForwardRounds::collect_demands(std::vector<std::vector<Update>>& parcels) {
  for (const std::uint32_t g : changed_ghosts_) {
    GhostState& ghost = ghosts_[g];
    ghost.changed = false;
    const std::int64_t demand =
        pass_.demand_on_ghost(static_cast<NodeIndex>(graph_.own_count() + g));
    if (demand == ghost.sent) continue;
    ghost.sent = demand;
    parcels[ghost.rank].push_back({About::demand, ghost.index, demand});
  }
  changed_ghosts_.clear();
}

void ForwardRounds::collect_proposals(std::vector<std::vector<Update>>& parcels) {
  for (std::uint32_t c = 0; c < proposals_.size(); ++c) {
    Proposal& proposal = proposals_[c];
    if (proposal.own == proposal.sent) continue;
    proposal.sent = proposal.own;
    for (const std::uint32_t peer : schedule_.tied[c].peers) {
      parcels[peer].push_back({About::proposal, c, proposal.own});
    }
  }
}

void ForwardRounds::hear(std::uint32_t rank, const Update& update) {
  switch (update.about) {
    case About::time: {
      const NodeIndex ghost = graph_.halo.ghosts_of[rank][update.index];
      pass_.set_ghost(ghost, update.value);
      mark_dependents(ghost, k_none);
      break;
    }
    case About::demand: {
      const NodeIndex node = graph_.halo.shown_to[rank][update.index];
      for (const std::uint32_t s : shown_of_node_.of(node)) {
        if (shown_[s].rank == rank && shown_[s].index == update.index) {
          shown_[s].demand = update.value;
        }
      }
      mark(links_.step_of_node[node]);
      break;
    }
    case About::proposal: {
      const TiedNodes& component = schedule_.tied[update.index];
      for (std::size_t p = 0; p < component.peers.size(); ++p) {
        if (component.peers[p] == rank) proposals_[update.index].of_peer[p] = update.value;
      }
      if (!component.nodes.empty()) mark(links_.step_of_node[component.nodes[0]]);
      break;
    }
  }
}

}  // namespace entrain::clc
