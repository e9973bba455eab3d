// SPDX-License-Identifier: BSD-3-Clause
#include "clc/refine.hpp"

#include <algorithm>
#include <utility>

#include "base/executor.hpp"
#include "match/extremes.hpp"
#include "match/parts.hpp"

namespace entrain::clc {

namespace {

/// After so many rounds every node of a broken location gets a knot.
constexpr int k_patient_rounds = 6;
constexpr int k_last_round = 12;
/// In the first rounds ends of edges that have become equal get knots. Later ones are equal without
/// rounding, which nothing can mend.
constexpr int k_separating_rounds = 2;

class Refiner {
 public:
  Refiner(const RefineInput& input, std::vector<Curve>& curves, BigVector<std::int64_t>& times)
      : input_(input),
        problem_(input.problem),
        graph_(problem_.graph),
        halo_(input.share.team, graph_),
        curves_(curves),
        times_(times) {
    times_.resize(graph_.node_count());
    maps_.assign(input.presync_maps.begin(), input.presync_maps.end());
  }

  RefinedMaps run() {
    bool settled = false;
    for_locations([&](LocationIndex l) { evaluate(l); });
    for (int round = 0; round < k_last_round; ++round) {
      if (problem_.cancel.asked_any(input_.share.team)) break;
      halo_.publish(times_);
      broken_.assign(graph_.node_count(), false);
      separates_ = problem_.separate && round < k_separating_rounds;
      mark_parts(curves_.size(), [&](std::size_t l, std::vector<NodeIndex>& broken) {
        if (touched(static_cast<LocationIndex>(l))) look_at_location(l, broken);
      });
      look_at_relation();
      settled = !any_broken();
      if (settled) break;
      for_locations([&](LocationIndex l) { repair(l, round >= k_patient_rounds); });
    }
    times_.resize(graph_.own_count());
    return {std::move(maps_), settled};
  }

 private:
  /// Calls `body(l)` for every location; calls may run at the same time.
  template <class Body>
  void for_locations(Body body) const {
    for_each_in_parallel(problem_.threads, curves_.size(),
                         [&](std::size_t l) { body(static_cast<LocationIndex>(l)); });
  }

  [[nodiscard]] bool touched(LocationIndex location) const { return !curves_[location].empty(); }
  [[nodiscard]] bool is_moved(NodeIndex node) const { return input_.displacement[node] > 0; }
  /// Rounding may have made these times equal. Only a node that moved can get another one.
  [[nodiscard]] bool is_merged(NodeIndex send, NodeIndex receive) const {
    return separates_ && times_[receive] == times_[send];
  }

  /// Informs the owners of marked nodes; true if any member has one that can be repaired.
  bool any_broken() {
    halo_.share_marks(broken_);
    bool any = false;
    for (LocationIndex l = 0; l < curves_.size() && !any; ++l) {
      const auto node = [&](NodeIndex n) { return broken_.begin() + n; };
      const auto end = node(graph_.first_node[l + 1]);
      any = touched(l) && std::find(node(graph_.first_node[l]), end, true) != end;
    }
    return input_.share.team.any(any);
  }

  void evaluate(LocationIndex l) {
    if (problem_.cancel.asked()) return;
    if (touched(l)) {
      maps_[l] = make_map(input_.presync_maps[l], curves_[l], input_.share.trace.locations[l],
                          input_.split_flushes);
    }
    ClockMap::Cursor cursor(maps_[l]);
    for (NodeIndex n = graph_.first_node[l]; n < graph_.first_node[l + 1]; ++n) {
      times_[n] = cursor(graph_.stamp[n]);
    }
  }

  /// Marks the nodes that `body(i, broken)` adds for i < count; calls may run at the same time.
  template <class Body>
  void mark_parts(std::size_t count, Body body) {
    std::vector<std::vector<NodeIndex>> broken(count);
    for_each_in_parallel(problem_.threads, count, [&](std::size_t i) {
      if (!problem_.cancel.asked()) body(i, broken[i]);
    });
    for (const std::vector<NodeIndex>& nodes : broken) {
      for (const NodeIndex n : nodes) broken_[n] = true;
    }
  }

  void look_at_location(std::size_t l, std::vector<NodeIndex>& broken) const {
    ClockMap::Cursor presync(input_.presync_maps[l]);
    const std::int64_t delta = problem_.delta_of(static_cast<LocationIndex>(l));
    std::int64_t c = 0, last_c = 0;
    for (NodeIndex n = graph_.first_node[l]; n < graph_.first_node[l + 1]; ++n) {
      last_c = std::exchange(c, presync(graph_.stamp[n]));
      const std::int64_t moved = times_[n] - c;
      if (is_moved(n) ? moved < 0 : moved < -1 || moved > 1) broken.push_back(n);
      if (n == graph_.first_node[l]) continue;
      const std::int64_t gap = std::min(delta, c - last_c);
      if (times_[n] - times_[n - 1] < gap) broken.insert(broken.end(), {n, n - 1});
    }
  }

  [[nodiscard]] bool tied(NodeIndex a, NodeIndex b) const {
    const std::uint32_t component = problem_.cycles.component_of(a);
    return component != k_none && component == problem_.cycles.component_of(b);
  }
  [[nodiscard]] std::int64_t mu(NodeIndex send, NodeIndex receive, LatencyClass c) const {
    return tied(send, receive) ? 0 : problem_.mu[static_cast<std::size_t>(c)];
  }

  void look_at_relation() {
    const std::vector<match::Part> parts = match::parts_of(graph_, problem_.threads);
    std::vector<std::vector<std::pair<const match::Exchange*, const match::Participant*>>> unmet(
        parts.size());
    mark_parts(parts.size(), [&](std::size_t i, std::vector<NodeIndex>& broken) {
      constexpr std::size_t k_ahead = 24;  // sends lie apart from each other: asked for in time
      const std::span<const match::Edge> edges = parts[i].edges;
      for (std::size_t e = 0; e < edges.size(); ++e) {
        const match::Edge& edge = edges[e];
        if (e + k_ahead < edges.size()) __builtin_prefetch(&times_[edges[e + k_ahead].send]);
        const std::int64_t least =
            times_[edge.send] +
            (tied(edge.send, edge.receive) ? 0 : graph_.mu_of(edge, problem_.mu));
        if (times_[edge.receive] < least) broken.insert(broken.end(), {edge.receive, edge.send});
        if (!is_merged(edge.send, edge.receive)) continue;
        for (const NodeIndex n : {edge.receive, edge.send}) {
          if (is_moved(n)) broken.push_back(n);
        }
      }
      match::for_demands(graph_, parts[i].exchanges, problem_.mu, times_,
                         [&](const match::Exchange& exchange, const match::Participant& receive,
                             std::int64_t demand) {
                           if (times_[receive.node] < demand + (separates_ ? 1 : 0))
                             unmet[i].emplace_back(&exchange, &receive);
                         });
    });
    for (const auto& of_part : unmet) {
      for (const auto& [exchange, receive] : of_part) look_at_pairs(*exchange, *receive);
    }
  }

  /// Finds the senders that cause an unmet demand; those tied to the receiver demand less.
  void look_at_pairs(const match::Exchange& exchange, const match::Participant& receive) {
    for (const match::Participant& send : graph_.sends(exchange)) {
      if (exchange.ordered && send.order >= receive.order) break;
      if (send.location == receive.location) continue;
      const LatencyClass c = graph_.latency_class(send.location, receive.location);
      if (times_[receive.node] < times_[send.node] + mu(send.node, receive.node, c)) {
        broken_[send.node] = true;
        broken_[receive.node] = true;
      }
      if (!is_merged(send.node, receive.node)) continue;
      for (const NodeIndex n : {send.node, receive.node}) {
        if (is_moved(n)) broken_[n] = true;
      }
    }
  }

  void repair(LocationIndex l, bool everything) {
    if (!touched(l)) return;
    const NodeIndex begin = graph_.first_node[l], end = graph_.first_node[l + 1];
    std::vector<Bend> bends;
    const auto add = [&](NodeIndex n) {
      bends.push_back({graph_.stamp[n], input_.displacement[n]});
    };
    for (NodeIndex n = begin; n < end; ++n) {
      if (!broken_[n]) continue;
      if (n > begin) add(n - 1);
      add(n);
      if (n + 1 < end) add(n + 1);
    }
    if (bends.empty()) return;
    if (everything) {
      bends.clear();
      for (NodeIndex n = begin; n < end; ++n) add(n);
    }
    insert_bends(curves_[l], std::move(bends));
    evaluate(l);
  }

  const RefineInput& input_;
  const ForwardProblem& problem_;
  const match::Graph& graph_;
  match::HaloExchange halo_;
  std::vector<Curve>& curves_;
  BigVector<std::int64_t>& times_;
  std::vector<ClockMap> maps_;
  std::vector<bool> broken_;
  bool separates_ = false;  ///< this round mends equal times, too
};

}  // namespace

RefinedMaps refine_maps(const RefineInput& input, std::vector<Curve>& curves,
                        BigVector<std::int64_t>& times) {
  // Where nothing was corrected, nothing was rounded.
  const bool touched =
      std::ranges::any_of(curves, [](const Curve& curve) { return !curve.empty(); });
  if (!input.share.team.any(touched)) {
    return {{input.presync_maps.begin(), input.presync_maps.end()}};
  }
  return Refiner(input, curves, times).run();
}

}  // namespace entrain::clc
