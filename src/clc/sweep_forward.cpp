// SPDX-License-Identifier: BSD-3-Clause
#include "clc/sweep_forward.hpp"

#include <algorithm>
#include <array>

#include "base/try.hpp"
#include "clc/forward.hpp"
#include "match/extremes.hpp"

namespace entrain::clc {

namespace {

/// With these limits, sweeps that give up cost about as much as the data-flow that follows.
constexpr int k_most_sweeps = 8;
/// A part may find 1 / k_found_share of the nodes as demands, a sweep may move 1 / k_moved_share.
constexpr std::size_t k_found_share = 64, k_moved_share = 4;

}  // namespace

SweepForward::SweepForward(Team& team, const ForwardProblem& problem)
    : team_(team),
      problem_(problem),
      graph_(problem.graph),
      halo_(team, graph_),
      presync_(problem.presync),
      mu_(problem.mu),
      cancel_(problem.cancel),
      ties_matter_(std::find(mu_.begin(), mu_.end(), 0) != mu_.end()),
      parts_(match::parts_of(graph_, problem.threads)),
      most_found_(graph_.node_count() / k_found_share + 256),
      most_moved_(graph_.node_count() / k_moved_share + 1024) {}

Result<std::vector<ForwardTimes>> SweepForward::run(std::span<const Decimal9> gammas) {
  std::optional<ForwardTimes> result = pass(gammas.front());
  TRY(cancel_.agree(team_));
  std::vector<ForwardTimes> passes;
  if (result) passes.push_back(*std::move(result));
  return passes;
}

/// Nothing if sweeps are not worth it, or if the user wants to stop.
std::optional<ForwardTimes> SweepForward::pass(Decimal9 gamma) {
  times_.assign(presync_.begin(), presync_.end());
  demands_.clear();
  jumps_.clear();
  moved_.clear();
  bool worth_it = true;
  for (int i = 0; i < k_most_sweeps; ++i) {
    const std::vector<Demand> before = std::move(demands_);
    worth_it = worth_it && !cancel_.asked() && sweep();
    if (!worth_it) demands_.clear();
    if (team_.size() > 1) hand_over_demands();
    std::array<std::int64_t, 2> any{worth_it ? 0 : 1, demands_ == before ? 0 : 1};
    team_.reduce(Team::Reduction::max, any);
    if (any[0] != 0) return std::nullopt;
    if (any[1] == 0) {
      if (team_.any(may_close_cycle())) return std::nullopt;
      return take_result();
    }
    take_back();
    worth_it = settle(gamma);
    halo_.publish(times_);
  }
  return std::nullopt;
}

/// False if there is too much to be worth it.
bool SweepForward::sweep() {
  found_.assign(parts_.size(), {});
  match::for_parts(parts_, [&](const match::Part& part, std::size_t i) {
    look_at_edges(part, found_[i]);
    if (!too_many(found_[i])) look_at_exchanges(part, found_[i]);
  });
  demands_.clear();
  for (const Found& found : found_) {
    if (too_many(found)) return false;
    demands_.insert(demands_.end(), found.demands.begin(), found.demands.end());
  }
  keep_largest();
  return true;
}

/// Keeps the largest demand on each node.
void SweepForward::keep_largest() {
  std::sort(demands_.begin(), demands_.end(), [](const Demand& a, const Demand& b) {
    return a.node != b.node ? a.node < b.node : a.time > b.time;
  });
  const auto same_node = [](const Demand& a, const Demand& b) { return a.node == b.node; };
  demands_.erase(std::unique(demands_.begin(), demands_.end(), same_node), demands_.end());
}

/// Gives demands on ghosts to the owners. Collective.
void SweepForward::hand_over_demands() {
  constexpr std::int64_t k_none_negated = -match::k_no_demand;
  BigVector<std::int64_t> negated(graph_.node_count(), k_none_negated);
  for (const Demand& d : demands_) negated[d.node] = -d.time;
  halo_.collect_smallest(negated);
  demands_.clear();
  for (NodeIndex n = 0; n < graph_.own_count(); ++n) {
    if (negated[n] != k_none_negated) demands_.push_back({n, -negated[n]});
  }
}

void SweepForward::look_at_edges(const match::Part& part, Found& found) const {
  for (const match::Edge& edge : part.edges) {
    const std::int64_t sent = times_[edge.send];
    const std::int64_t demand = sent + graph_.mu_of(edge, mu_);
    if (demand > presync_[edge.receive]) {
      found.demands.push_back({edge.receive, problem_.after(edge.receive, demand)});
      if (too_many(found)) return;
    }
    if (ties_matter_ && sent == times_[edge.receive]) {
      found.tied_sends.push_back(edge.send);
      found.tied_receives.push_back(edge.receive);
      if (too_many(found)) return;
    }
  }
}

void SweepForward::look_at_exchanges(const match::Part& part, Found& found) const {
  const match::Exchange* tied = nullptr;
  std::int64_t earliest = 0;  // of the tied receives of this exchange
  const auto add_tied_sends = [&] {
    if (tied == nullptr) return;
    for (const match::Participant& send : graph_.sends(*tied)) {
      if (times_[send.node] >= earliest) found.tied_sends.push_back(send.node);
    }
  };
  match::for_demands(
      graph_, part.exchanges, mu_, times_,
      [&](const match::Exchange& exchange, const match::Participant& receive, std::int64_t demand) {
        if (too_many(found)) return;
        const std::int64_t time = times_[receive.node];
        if (demand > presync_[receive.node])
          found.demands.push_back({receive.node, problem_.after(receive.node, demand)});
        if (!ties_matter_ || demand < time) return;
        found.tied_receives.push_back(receive.node);
        if (tied != &exchange) {
          add_tied_sends();
          tied = &exchange;
          earliest = time;
        }
        earliest = std::min(earliest, time);
      });
  add_tied_sends();
}

void SweepForward::take_back() {
  for (const auto& [begin, end] : moved_) {
    std::copy(presync_.begin() + begin, presync_.begin() + end, times_.begin() + begin);
  }
  moved_.clear();
  moved_count_ = 0;
  jumps_.clear();
}

/// Equation (3') at every node, given the demands of the last sweep. False if too much moves.
bool SweepForward::settle(Decimal9 gamma) {
  LocationIndex location = 0;
  for (std::size_t i = 0, end = 0; i < demands_.size(); i = end) {
    while (demands_[i].node >= graph_.first_node[location + 1]) ++location;
    const NodeIndex last = graph_.first_node[location + 1];
    for (end = i; end < demands_.size() && demands_[end].node < last;) ++end;
    if (cancel_.asked()) return false;
    const Decimal9 own = problem_.gamma_of(location, gamma);
    if (!settle_location(location, std::span(demands_).subspan(i, end - i), own)) return false;
  }
  return true;
}

bool SweepForward::settle_location(LocationIndex location, std::span<const Demand> demands,
                                   Decimal9 gamma) {
  Decay decay;
  for (std::size_t i = 0; i < demands.size(); ++i) {
    const NodeIndex n = demands[i].node;
    const std::int64_t c = presync_[n];
    const std::int64_t own = c + decay.at(c, gamma);
    const std::int64_t time = std::max(own, demands[i].time);
    if (time > own) {
      decay = {time - c, c};
      jumps_.push_back(n);
    }
    times_[n] = time;
    const bool last = i + 1 == demands.size();
    const NodeIndex end = last ? graph_.first_node[location + 1] : demands[i + 1].node;
    const NodeIndex settled = let_decay(decay, n + 1, end, gamma);
    if (times_[settled - 1] > k_latest_time) return false;
    moved_.emplace_back(n, settled);
    moved_count_ += settled - n;
    if (moved_count_ > most_moved_) return false;
  }
  return true;
}

/// Returns the first node that the displacement does not reach.
NodeIndex SweepForward::let_decay(const Decay& decay, NodeIndex begin, NodeIndex end,
                                  Decimal9 gamma) {
  end = static_cast<NodeIndex>(std::min<std::size_t>(end, begin + most_moved_));
  for (NodeIndex n = begin; n < end; ++n) {
    const std::int64_t displacement = decay.at(presync_[n], gamma);
    if (displacement == 0) return n;
    times_[n] = presync_[n] + displacement;
  }
  return end;
}

/// All times on a cycle are equal, so every send in it is a receive too, or its location has an
/// equal time just before it. True if this holds for some send of this member, whoever found it.
/// Collective.
bool SweepForward::may_close_cycle() {
  if (!ties_matter_) return false;
  std::vector<bool> sends(graph_.node_count(), false), receives(graph_.node_count(), false);
  for (const Found& found : found_) {
    for (const NodeIndex n : found.tied_sends) sends[n] = true;
    for (const NodeIndex n : found.tied_receives) receives[n] = true;
  }
  halo_.share_marks(sends);
  halo_.share_marks(receives);
  for (LocationIndex l = 0; l < graph_.location_count(); ++l) {
    const NodeIndex first = graph_.first_node[l];
    for (NodeIndex n = first; n < graph_.first_node[l + 1]; ++n) {
      if (!sends[n]) continue;
      if (receives[n] || (n > first && times_[n - 1] == times_[n])) return true;
    }
  }
  return false;
}

ForwardTimes SweepForward::take_result() {
  ForwardTimes result;
  result.error_of.assign(graph_.location_count(), 0);
  for (const auto& [begin, end] : moved_) {  // of one location each
    std::int64_t& error = result.error_of[graph_.location_of(begin)];
    for (NodeIndex n = begin; n < end; ++n) error = std::max(error, times_[n] - presync_[n]);
    result.error = std::max(result.error, error);
  }
  result.jump.assign(graph_.own_count(), false);
  for (const NodeIndex n : jumps_) result.jump[n] = true;
  result.jumps = jumps_.size();
  result.times = std::move(times_);
  agree_on_counts(team_, result);
  return result;
}

}  // namespace entrain::clc
