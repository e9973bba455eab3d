// SPDX-License-Identifier: BSD-3-Clause
#include "clc/rounds.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace entrain::clc {

namespace {

/// Turns the counts of each member over its own nodes into counts of the team.
void agree_on_counts(Team& team, ForwardTimes& pass) {
  std::array<std::int64_t, 2> largest{pass.error, pass.overflow ? 1 : 0};
  team.reduce(Team::Reduction::max, largest);
  pass.error = largest[0];
  pass.overflow = largest[1] != 0;
  team.reduce(Team::Reduction::max, pass.error_of);
  pass.jumps = static_cast<std::uint64_t>(
      team.reduce(Team::Reduction::sum, static_cast<std::int64_t>(pass.jumps)));
}

}  // namespace

ForwardRounds::ForwardRounds(Team& team, const ForwardProblem& problem, const Incidence& incidence,
                             const Schedule& schedule)
    : team_(team),
      graph_(problem.graph),
      cycles_(problem.cycles),
      presync_(problem.presync),
      cancel_(problem.cancel),
      pass_(problem, incidence, schedule),
      ghosts_(graph_.halo.ghosts.size()) {
  for (std::uint32_t r = 0; r < team.size(); ++r) {
    first_shown_.push_back(static_cast<std::uint32_t>(shown_.size()));
    for (std::uint32_t i = 0; i < graph_.halo.shown_to[r].size(); ++i) {
      shown_.push_back({.rank = r, .index = i});
    }
    for (std::uint32_t i = 0; i < graph_.halo.ghosts_of[r].size(); ++i) {
      ghosts_[graph_.halo.ghosts_of[r][i] - graph_.own_count()] = {.rank = r, .index = i};
    }
  }
}

std::optional<ForwardTimes> ForwardRounds::run(Decimal9 gamma, std::uint64_t most_rounds) {
  begin(gamma);
  for (std::uint64_t round = 0;; ++round) {
    const Talk talked = talk();
    if (talked == Talk::no_news) break;
    if (talked == Talk::stopped || (most_rounds != 0 && round >= most_rounds)) return std::nullopt;
    pass_.update();
  }
  ForwardTimes result = pass_.finish();
  agree_on_counts(team_, result);
  return result;
}

void ForwardRounds::begin(Decimal9 gamma) {
  for (GhostState& ghost : ghosts_) ghost.sent = match::k_no_demand;
  for (Shown& shown : shown_) shown.sent = presync_[graph_.halo.shown_to[shown.rank][shown.index]];
  sent_proposals_.assign(cycles_.tied.size(), match::k_no_demand);
  pass_.begin(gamma);
}

ForwardRounds::Talk ForwardRounds::talk() {
  Parcels parcels(team_.size());
  collect_times(parcels);
  collect_demands(parcels);
  collect_proposals(parcels);
  const bool news =
      std::any_of(parcels.begin(), parcels.end(), [](const auto& p) { return !p.empty(); });
  const Talk own = cancel_.asked() ? Talk::stopped : news ? Talk::news : Talk::no_news;
  const auto all =
      static_cast<Talk>(team_.reduce(Team::Reduction::max, static_cast<std::int64_t>(own)));
  if (all != Talk::news) return all;
  parcels = exchange(team_, std::move(parcels));
  for (std::uint32_t r = 0; r < parcels.size(); ++r) {
    for (const Update& update : parcels[r]) hear(r, update);
  }
  return Talk::news;
}

void ForwardRounds::collect_times(Parcels& parcels) {
  for (const NodeIndex n : pass_.take_changed_nodes()) {
    const std::int64_t time = pass_.time(n);
    for (const std::uint32_t s : pass_.shown_of(n)) {
      Shown& shown = shown_[s];
      if (std::exchange(shown.sent, time) == time) continue;
      parcels[shown.rank].push_back({About::time, shown.index, time});
    }
  }
}

void ForwardRounds::collect_demands(Parcels& parcels) {
  for (const NodeIndex n : pass_.take_changed_ghosts()) {
    GhostState& ghost = ghosts_[n - graph_.own_count()];
    const std::int64_t demand = pass_.demand_on_ghost(n);
    if (std::exchange(ghost.sent, demand) == demand) continue;
    parcels[ghost.rank].push_back({About::demand, ghost.index, demand});
  }
}

void ForwardRounds::collect_proposals(Parcels& parcels) {
  for (std::uint32_t c = 0; c < sent_proposals_.size(); ++c) {
    const std::int64_t own = pass_.own_proposal(c);
    if (std::exchange(sent_proposals_[c], own) == own) continue;
    for (const std::uint32_t peer : cycles_.tied[c].peers) {
      parcels[peer].push_back({About::proposal, c, own});
    }
  }
}

void ForwardRounds::hear(std::uint32_t rank, const Update& update) {
  switch (update.about) {
    case About::time:
      pass_.set_ghost(graph_.halo.ghosts_of[rank][update.index], update.value);
      break;
    case About::demand:
      pass_.set_remote_demand(first_shown_[rank] + update.index,
                              graph_.halo.shown_to[rank][update.index], update.value);
      break;
    case About::proposal:
      pass_.set_proposal(update.index, rank, update.value);
      break;
  }
}

}  // namespace entrain::clc
